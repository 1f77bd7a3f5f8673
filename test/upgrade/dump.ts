import { Redis } from "ioredis";
import type { Client } from "pg";
import { createOrm } from "../../db/orm.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";

/** The data a release left in its stores, in formats that every version of them reads. */
export interface Dump {
  /** The release's last migration. */
  migration: string;
  tables: Table[];
  sequences: [name: string, last: string][];
  keys: Key[];
  /** Path below the data folder -> content in Base64. */
  files: Record<string, string>;
}

interface Table {
  name: string;
  columns: string[];
  /** JSON text of the rows. */
  rows: string;
}

type Key = Content & {
  /** Remaining milliseconds; null without expiry. */
  leftMs: number | null;
};

type Content =
  | { type: "string"; name: string; value: string }
  | { type: "hash"; name: string; value: Record<string, string> }
  | { type: "list" | "set"; name: string; value: string[] }
  /** Member, score, and so on. */
  | { type: "zset"; name: string; value: string[] }
  | { type: "stream"; name: string; value: [id: string, fields: string[]][] };

const migrations = "mikro_orm_migrations";
const quoted = (name: string) => `"${name}"`;

export async function dumpDatabase(
  url: string,
): Promise<Pick<Dump, "migration" | "tables" | "sequences">> {
  return withClient(url, async (client) => {
    const last = await client.query<{ name: string }>(
      `select name from ${migrations} order by id desc limit 1`,
    );
    const found = await client.query<{ name: string; columns: string[] }>(
      `select c.relname::text as name, array(select a.attname::text from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         order by a.attnum) as columns
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
         and c.relname <> '${migrations}' order by 1`,
    );
    const tables: Table[] = [];
    for (const { name, columns } of found.rows) {
      const list = columns.map(quoted).join(", ");
      const { rows } = await client.query<{ rows: string }>(
        `select coalesce(json_agg(t), '[]')::text as rows from (select ${list} from ${quoted(name)}) t`,
      );
      if (rows[0] && rows[0].rows !== "[]") tables.push({ name, columns, rows: rows[0].rows });
    }
    const sequences = await client.query<{ name: string; last: string }>(
      `select sequencename::text as name, last_value::text as last from pg_sequences
       where schemaname = 'public' and last_value is not null and sequencename !~ '^${migrations}'`,
    );
    return {
      migration: last.rows[0]?.name ?? "",
      tables,
      sequences: sequences.rows.map(({ name, last: value }) => [name, value]),
    };
  });
}

/** Restores into an empty database, whose schema comes from the migrations of the release. */
export async function restoreDatabase(url: string, dump: Dump): Promise<void> {
  const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 2 });
  try {
    await orm.migrator.up({ to: dump.migration });
  } finally {
    await orm.close(true);
  }
  await withClient(url, async (client) => {
    await client.query("begin");
    // Triggers and the order of tables do not matter for rows that were complete.
    await client.query("set local session_replication_role = replica");
    await emptyTables(client);
    for (const { name, columns, rows } of dump.tables) {
      const list = columns.map(quoted).join(", ");
      await client.query(
        `insert into ${quoted(name)} (${list}) overriding system value
         select ${list} from json_populate_recordset(null::${quoted(name)}, $1::json)`,
        [rows],
      );
    }
    for (const [name, last] of dump.sequences)
      await client.query("select setval($1::regclass, $2::bigint)", [quoted(name), last]);
    await client.query("commit");
  });
}

async function emptyTables(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> '${migrations}'`,
  );
  await client.query(`truncate ${rows.map(({ name }) => quoted(name)).join(", ")} cascade`);
}

const connect = (url: string) => new Redis({ path: url.replace("unix://", "") });

export async function dumpRedis(url: string): Promise<Key[]> {
  const redis = connect(url);
  try {
    const names = (await redis.keys("*")).toSorted();
    return await Promise.all(
      names.map(async (name) => {
        const [content, left] = await Promise.all([readKey(redis, name), redis.pttl(name)]);
        return { ...content, leftMs: left < 0 ? null : left };
      }),
    );
  } finally {
    redis.disconnect();
  }
}

async function readKey(redis: Redis, name: string): Promise<Content> {
  const type = await redis.type(name);
  switch (type) {
    case "string":
      return { type, name, value: (await redis.get(name)) ?? "" };
    case "hash":
      return { type, name, value: await redis.hgetall(name) };
    case "list":
      return { type, name, value: await redis.lrange(name, 0, -1) };
    case "set":
      return { type, name, value: await redis.smembers(name) };
    case "zset":
      return { type, name, value: await redis.zrange(name, "0", "-1", "WITHSCORES") };
    case "stream":
      return { type, name, value: (await redis.xrange(name, "-", "+")) as [string, string[]][] };
    default:
      throw new Error(`${name} is a ${type}`);
  }
}

/** As if no time had passed since. */
export async function restoreRedis(url: string, keys: readonly Key[]): Promise<void> {
  const redis = connect(url);
  try {
    for (const key of keys) await writeKey(redis, key);
  } finally {
    redis.disconnect();
  }
}

async function writeKey(redis: Redis, key: Key): Promise<void> {
  const { name } = key;
  if (key.type === "string") await redis.set(name, key.value);
  if (key.type === "hash") await redis.hset(name, key.value);
  if (key.type === "list") await redis.rpush(name, ...key.value);
  if (key.type === "set") await redis.sadd(name, ...key.value);
  if (key.type === "zset")
    for (let n = 0; n < key.value.length; n += 2)
      await redis.zadd(name, key.value[n + 1] ?? "", key.value[n] ?? "");
  if (key.type === "stream")
    for (const [id, fields] of key.value) await redis.xadd(name, id, ...fields);
  if (key.leftMs !== null) await redis.pexpire(name, key.leftMs);
}
