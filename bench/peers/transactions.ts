import pg from "pg";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import { serveCalls } from "../rpc.ts";

/**
 * A minimal payment: one transaction that changes a balance and writes an entry, with the driver only.
 * `run` keeps a number of sessions busy and returns the committed payments.
 */
const { host, port, user, password, database } = parseDatabaseUrl(process.argv[2] ?? "");
const address = { host, port, user, password: password ?? "", database };

const calls = { prepare, run };
export type TransactionCalls = typeof calls;
serveCalls(calls);

async function prepare(): Promise<void> {
  await withClient(async (client) => {
    await client.query(`create table bench_balances (id int primary key, balance bigint not null)`);
    await client.query(
      `create table bench_entries (id bigint generated always as identity primary key,
        owner int not null, amount bigint not null, reason text not null, created_at timestamptz not null)`,
    );
    await client.query(`insert into bench_balances select n, 0 from generate_series(1, 1000) n`);
  });
}

async function run({ sessions, seconds }: { sessions: number; seconds: number }) {
  const latencies: number[] = [];
  const started = performance.now();
  const lane = (id: number) =>
    withClient(async (client) => {
      while (performance.now() - started < seconds * 1_000) {
        const startedAt = performance.now();
        await pay(client, id);
        latencies.push(performance.now() - startedAt);
      }
    });
  await Promise.all(Array.from({ length: sessions }, (_, n) => lane(n + 1)));
  const elapsed = (performance.now() - started) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return { count: latencies.length, seconds: elapsed, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function pay(client: pg.Client, id: number): Promise<void> {
  await client.query("begin");
  await client.query("update bench_balances set balance = balance + $1 where id = $2", [10, id]);
  await client.query(
    "insert into bench_entries (owner, amount, reason, created_at) values ($1, $2, $3, $4)",
    [id, 10, "an award", new Date()],
  );
  await client.query("commit");
}

async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(address);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
