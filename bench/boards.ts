import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { createOrm } from "../db/orm.ts";
import { rowsOf } from "../db/queries/rows.ts";
import { silentLogger } from "../server/core/logger.ts";
import { connectRedis, redisReady } from "../server/core/redis.ts";
import type { Service } from "../test/support/process.ts";
import { Latencies } from "./latencies.ts";
import { note, type Table } from "./report.ts";
import type { Scenarios } from "./scenario.ts";
import { withService } from "./service.ts";

const path = "/v1/games/trivia/leaderboard";
/** Beside the boards: a sorted set as plain as can be. */
const plainSet = "bench:plain";
const fillTimeoutMs = 600_000;
const batch = 10_000;

/** What is measured one after another, each through the whole service, on an otherwise idle machine. */
export const scenarios: Scenarios = {
  all: {
    about: "pages, ranks and searches of the global board, of a million players",
    async run({ isQuick }) {
      const players = isQuick ? 100_000 : 1_000_000;
      const rounds = isQuick ? 200 : 1_000;
      return withService(1, (service) => measureAll(service, players, rounds));
    },
  },
};

async function measureAll(service: Service, players: number, rounds: number): Promise<Table[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  try {
    const caller = await enter(service.url);
    await timed(`${players} players written`, () => fill(orm.em.fork(), players, caller.id));
    for (let from = 0; from < players; from += batch)
      await redis.zadd(
        plainSet,
        ...Array.from({ length: batch }, (_, n) => [(from + n) * 7, `player:${from + n}`]).flat(),
      );
    await timed("board built", () => untilBuilt(service.url));
    const member = () => `player:${Math.floor(Math.random() * players)}`;
    const em = orm.em.fork();
    const scan = sql`select player_id from player_stats
      order by total_score desc, score_at, player_id limit 20`;
    const page = () => 1 + Math.floor((Math.random() * players) / 20);
    const read = (query: string, headers = {}) => get(`${service.url}${path}?${query}`, headers);
    const bearer = { authorization: `Bearer ${caller.token}` };
    const rows: [name: string, work: () => Promise<unknown>][] = [
      ["bare ZREVRANK", () => redis.zrevrank(plainSet, member())],
      ["bare index scan of 20", () => rowsOf(em, scan)],
      ["GET without work", () => get(`${service.url}/v1/games/trivia/categories`)],
      ["first page", () => read("")],
      ["any page", () => read(`page=${page()}`)],
      ["any page, accuracy", () => read(`tab=accuracy&page=${page()}`)],
      ["rank of the caller", () => read("limit=1&page=9999999", bearer)],
      ["answer, then page and rank", () => answered(em, caller.id, () => read("", bearer))],
      ["search, few matches", () => read(`search=player_77${Math.floor(Math.random() * 1_000)}`)],
    ];
    const slow: typeof rows = [
      ["search, all match", () => read(`search=player&page=${1 + Math.floor(Math.random() * 9)}`)],
      ["search, two letters", () => read(`search=7${Math.floor(Math.random() * 10)}`)],
    ];
    const measured = [];
    for (const [name, work] of rows) measured.push(await measure(name, work, rounds));
    for (const [name, work] of slow) measured.push(await measure(name, work, rounds / 20));
    return [tableOf(players, measured)];
  } finally {
    redis.disconnect();
    await orm.close(true);
  }
}

/** Values as they are after years of play: some ties at the top, many on streaks and accuracy. */
async function fill(em: EntityManager, players: number, callerId: number): Promise<void> {
  await em.transactional(async (tx) => {
    await rowsOf(tx, sql`select set_config('statement_timeout', ${String(fillTimeoutMs)}, true)`);
    // The board does not exist yet: nobody has to learn of these.
    await rowsOf(tx, sql`alter table player_stats disable trigger player_stats_noted`);
    await rowsOf(
      tx,
      sql`insert into players (name, name_key, is_guest, realm)
        select 'Player_' || n, 'player_' || n, true, 'default' from generate_series(1, ${players}::int) n`,
    );
    await rowsOf(
      tx,
      sql`insert into player_stats (player_id, total_score, score_at, total_answers, total_correct,
          best_streak, streak_at, total_xp, xp_at)
        select id, (random() * 500000)::int * 10, now() - random() * interval '900 days', 100 + id % 900,
          (random() * (100 + id % 900))::int, (random() * random() * 60)::int,
          now() - random() * interval '900 days', (random() * 90000)::int, now() - random() * interval '900 days'
        from players where name_key like 'player_%' or id = ${callerId}
        on conflict (player_id) do nothing`,
    );
    await rowsOf(tx, sql`alter table player_stats enable trigger player_stats_noted`);
  });
  await rowsOf(em, sql`analyze players`);
  await rowsOf(em, sql`analyze player_stats`);
}

async function answered(em: EntityManager, id: number, read: () => Promise<unknown>) {
  await rowsOf(
    em,
    sql`update player_stats set total_score = total_score + 10, score_at = now() where player_id = ${id}`,
  );
  return read();
}

async function enter(url: string): Promise<{ id: number; token: string }> {
  const answer = await fetch(`${url}/v1/gateway/guest`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const { body } = (await answer.json()) as {
    body: { access_token: string; player: { id: number } };
  };
  return { id: body.player.id, token: body.access_token };
}

async function get(url: string, headers: Record<string, string> = {}): Promise<void> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
}

/** Readers are told to come back while a large board is built. */
async function untilBuilt(url: string): Promise<void> {
  while ((await fetch(url + path)).status === 503);
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await work();
  note(`${name}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
}

interface Measured {
  name: string;
  p50: number;
  p99: number;
}

async function measure(
  name: string,
  work: () => Promise<unknown>,
  rounds: number,
): Promise<Measured> {
  const latencies = new Latencies();
  for (let n = 0; n < 10; n++) await work();
  for (let n = 0; n < rounds; n++) {
    const started = performance.now();
    await work();
    latencies.add((performance.now() - started) * 1_000);
  }
  return { name, p50: latencies.at(0.5), p99: latencies.at(0.99) };
}

function tableOf(players: number, measured: readonly Measured[]): Table {
  const [rank, scan] = measured;
  const against = (p50: number, bare: Measured | undefined) =>
    bare === undefined ? "" : `${(p50 / bare.p50).toFixed(1)}x`;
  return {
    title: `boards of ${players} players, one request after another`,
    head: ["what", "p50 ms", "p99 ms", "to ZREVRANK", "to index scan"],
    rows: measured.map(({ name, p50, p99 }) => [
      ...[name, p50.toFixed(1), p99.toFixed(1)],
      ...[against(p50, rank), against(p50, scan)],
    ]),
  };
}
