import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import type {
  ImportEnvelope,
  SourceAsset,
  SourceEntity,
  SourceTexts,
} from "../../importers/envelope/contract.ts";
import { importEnvelope, type ImportOptions } from "../../importers/pipeline/import.ts";
import type { ImportReport } from "../../importers/pipeline/plan/import-plan.ts";
import type { App } from "./app.ts";
import { testStores, type TestStores } from "./stores.ts";

export interface EnvelopeInput {
  game?: string;
  branch?: ImportEnvelope["header"]["branch"];
  version?: string;
  canonical?: string;
  released?: string | null;
  entities?: readonly SourceEntity[];
  assets?: readonly SourceAsset[];
  files?: Readonly<Record<string, Uint8Array>>;
  locales?: SourceTexts;
}

/** An entity `id.<type>.<name>` with the fields a test needs. */
export function entity(id: string, rest: Partial<SourceEntity> = {}): SourceEntity {
  const [, type = "", ...name] = id.split(".");
  return {
    id,
    type,
    upstream_key: `Id_${type}_${name.join("_")}`,
    name: name.join("."),
    data: {},
    ...rest,
  };
}

/** An envelope held in memory. */
export function envelope(input: EnvelopeInput = {}): ImportEnvelope {
  const { entities = [], files = {} } = input;
  const game = input.game ?? "dungeon";
  return {
    name: "test",
    header: {
      format: 1,
      game: { slug: game, display_name: game.toUpperCase() },
      branch: input.branch ?? { slug: "main" },
      patch: {
        version_raw: input.version ?? "1.0",
        ...(input.canonical === undefined ? {} : { canonical: input.canonical }),
        released_at: input.released ?? null,
      },
    },
    assets: input.assets ?? [],
    locales: input.locales ?? {},
    entities: () => entities,
    readAsset: async (path) => {
      const content = files[path];
      if (content === undefined) throw new Error("is not there");
      return content;
    },
  };
}

export interface Archive {
  orm: MikroORM;
  stores: TestStores;
  /** Imports an envelope; `now` is 2026-01-01 unless given. */
  import(input: EnvelopeInput, options?: Partial<ImportOptions>): Promise<ImportReport>;
  /** Rows of every table, and the last transaction that wrote one: equal if nothing was written. */
  traces(): Promise<unknown[]>;
  stop(): Promise<void>;
}

export const importTime = Date.UTC(2026, 0, 1);

/** Rows of every table of archive and projection, and the last transaction that wrote one. */
export async function archiveTraces(orm: MikroORM): Promise<unknown[]> {
  const tables = await rowsOf(
    orm.em.fork(),
    sql<{ name: string }>`select tablename as name from pg_tables
      where schemaname = 'public' and tablename ~ '^(codex|projection)' order by 1`,
  );
  const facts = tables.map(
    ({ name }) =>
      sql`select ${name} as name, count(*)::int, max(xmin::text::bigint)::text
        from ${sql.table(name)}`,
  );
  return rowsOf(orm.em.fork(), sql`${sql.join(facts, sql` union all `)} order by 1`);
}

/** An empty archive with its own database. */
export async function startArchive(): Promise<Archive> {
  const stores = await testStores();
  const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 4 });
  return {
    orm,
    stores,
    import: (input, options = {}) =>
      importEnvelope(orm.em.fork(), envelope(input), { now: importTime, ...options }),
    traces: () => archiveTraces(orm),
    stop: async () => {
      await orm.close(true);
      await stores.stop();
    },
  };
}

/** Imports into a running service and waits until clients see the patch. */
export async function load(
  app: App,
  input: EnvelopeInput,
  options: Partial<ImportOptions> = {},
): Promise<ImportReport> {
  const report = await importEnvelope(app.deps.em, envelope(input), {
    now: importTime,
    // Test games are small, and many of their patches remove half of the entities.
    allowShrink: true,
    ...options,
  });
  // A read already in progress may return the previous state.
  for (let n = 0; n < 2; n++) await app.deps.archive.reload();
  return report;
}
