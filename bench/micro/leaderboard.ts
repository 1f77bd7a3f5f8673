import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { newPlayer, type Player } from "../../test/support/player.ts";
import type { Service } from "../../test/support/process.ts";
import type { Scenario } from "../floor-scenario.ts";
import { percentileOrMax, type Summary } from "../load/histogram.ts";
import { note, verdict, type Table } from "../report.ts";
import { withService } from "../service.ts";
import { millisOf, timeInTurns, type Work } from "./in-turns.ts";

const path = "/v1/games/trivia/leaderboard";
/** A plain sorted set for comparison. */
const plainSet = "bench:plain";
const batch = 10_000;
/** Search terms for `Player_1`, `Player_2`, …, from every name to none. */
const searched = [
  ...["player", "r_", "77", "player_7", "123", "1234", "player_77123"],
  ...["zzz", "zq", "er_play", "冰霜"],
];
const pageMs = 10;
const searchMs = 150;

export const leaderboard: Scenario = {
  about: "pages and searches of a million players, against bare commands of Redis and Postgres",
  run: ({ isQuick }) =>
    withService(2, (service) =>
      measureAll(service, isQuick ? 100_000 : 1_000_000, isQuick ? 200 : 1_000),
    ),
};

async function measureAll(service: Service, players: number, rounds: number): Promise<Table[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  try {
    const em = orm.em.fork();
    const caller = await newPlayer(service.url, "Caller");
    const written = await millisOf(() => fill(em, players, caller.accountId));
    await fillPlainSet(redis, players);
    note(`${players} players written in ${(written / 1_000).toFixed(1)} s`);
    const built = await millisOf(() => untilBuilt(service.url + path));
    note(`leaderboard built in ${(built / 1_000).toFixed(1)} s`);
    const measured = await timeInTurns(pagesOf(service, { em, redis, players, caller }), {
      rounds,
    });
    const searches = Object.fromEntries(
      searched.map((text) => {
        const search = `${service.url}${path}?search=${encodeURIComponent(text)}`;
        // Refused rather than late.
        return [`search, ${text}`, () => get(search, {}, [200, 400, 503])];
      }),
    );
    return [
      tableOf(`pages of ${players} players`, measured, pageMs),
      tableOf(
        `searches among ${players} players`,
        await timeInTurns(searches, { rounds: 41 }),
        searchMs,
      ),
    ];
  } finally {
    redis.disconnect();
    await orm.close(true);
  }
}

function pagesOf(
  { url }: Service,
  given: { em: EntityManager; redis: Redis; players: number; caller: Player },
): Record<string, Work> {
  const { em, redis, players, caller } = given;
  const any = (count: number) => Math.floor(Math.random() * count);
  const page = () => 1 + any(players / 20);
  const own = () => get(url + path, { authorization: `Bearer ${caller.accessToken}` });
  const scan = sql`select player_id from player_stats
    order by total_score desc, score_at, player_id limit 20`;
  const score = sql`update player_stats set total_score = total_score + 10, score_at = now()
    where player_id = ${caller.accountId}`;
  return {
    "bare ZREVRANK": () => redis.zrevrank(plainSet, `player:${any(players)}`),
    "bare index scan of 20": () => rowsOf(em, scan),
    "any page": () => get(`${url}${path}?page=${page()}`),
    "any page, accuracy": () => get(`${url}${path}?tab=accuracy&page=${page()}`),
    "page and own rank": own,
    "score, then page and own rank": async () => {
      await rowsOf(em, score);
      await own();
    },
  };
}

function tableOf(title: string, measured: ReadonlyMap<string, Summary>, limit: number): Table {
  return {
    title: `${title}, one request after the other`,
    head: ["what", "p50 ms", "p90 ms", "p99 ms", "target p50"],
    rows: [...measured].map(([name, summary]) => [
      name,
      ...([50, 90, 99] as const).map((percent) => percentileOrMax(summary, percent).toFixed(1)),
      name.startsWith("bare") ? "" : verdict(percentileOrMax(summary, 50), { limit, unit: " ms" }),
    ]),
  };
}

async function fillPlainSet(redis: Redis, players: number): Promise<void> {
  for (let from = 0; from < players; from += batch)
    await redis.zadd(
      plainSet,
      ...Array.from({ length: batch }, (_, n) => [(from + n) * 7, `player:${from + n}`]).flat(),
    );
}

/** Realistic values after years of play: few ties at the top, many on streaks and accuracy. */
async function fill(em: EntityManager, players: number, callerId: number): Promise<void> {
  await em.transactional(async (tx) => {
    await rowsOf(tx, sql`set local statement_timeout = 0`);
    // The leaderboard does not exist yet, so no change needs to be recorded.
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
  // The follow-up work of a bulk insert is done before anything is measured.
  for (const table of ["players", "player_stats"])
    await rowsOf(em, sql`vacuum (analyze) ${sql.table(table)}`);
  await rowsOf(em, sql`checkpoint`);
}

async function get(
  url: string,
  headers: Record<string, string> = {},
  expected: readonly number[] = [200],
): Promise<void> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  if (!expected.includes(answer.status)) throw new Error(`${url} answered ${answer.status}`);
}

/** Clients get a 503 while a large leaderboard is built. */
async function untilBuilt(url: string): Promise<void> {
  while ((await fetch(url)).status === 503);
}
