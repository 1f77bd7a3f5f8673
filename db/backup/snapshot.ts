import type { Readable } from "node:stream";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import {
  quoted,
  readSequences,
  readTables,
  type SequenceState,
  type TableShape,
} from "./catalog.ts";
import { withSession } from "./session.ts";

/** The database as of one moment. */
export interface Snapshot {
  /** By the clock of Postgres. */
  takenAt: Date;
  /** Names of the applied migrations, in their order. */
  migrations: string[];
  tables: TableShape[];
  /** At least as high as the ids in the tables. */
  sequences: SequenceState[];
  /** The rows of a table in the text form of COPY, one a line. One at a time. */
  readTable(table: TableShape): Readable;
  /** Names of stored pictures, one a line. One at a time. */
  pictureNames(): Readable;
}

/** The schema was migrated between two statements. */
export class SchemaChanged extends Error {}

/** Reads beside running writers: the transaction only reads, and its snapshot stays that of its first query. */
export function withSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  return withSession(url, async (client) => {
    const found = await readTables(client);
    const names = found.map(({ name }) => quoted(name)).join(", ");
    await client.query("begin transaction isolation level repeatable read read only");
    // Before the first query, which takes the snapshot: the tables stay those that the snapshot shows.
    if (names !== "") await client.query(`lock table ${names} in access share mode`);
    const tables = await readTables(client);
    if (JSON.stringify(tables) !== JSON.stringify(found)) throw new SchemaChanged();
    const copy = (source: string) => client.query(copyTo(`copy ${source} to stdout`));
    return work({
      ...(await readFacts(client)),
      tables,
      sequences: await readSequences(client),
      readTable: ({ name, columns }) =>
        copy(`${quoted(name)} (${columns.map(pg.escapeIdentifier).join(", ")})`),
      pictureNames: () => copy("(select file from avatar_uploads where file is not null)"),
    });
  });
}

async function readFacts(client: pg.Client): Promise<Pick<Snapshot, "takenAt" | "migrations">> {
  const { rows } = await client.query<{ takenAt: Date; migrations: string[] }>(
    `select now() as "takenAt", array(select name::text from mikro_orm_migrations order by id) as migrations`,
  );
  const [facts] = rows;
  if (facts === undefined) throw new Error("Postgres returned no row");
  return facts;
}
