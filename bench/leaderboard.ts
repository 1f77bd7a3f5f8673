import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { createOrm } from "../db/orm.ts";
import { rowsOf } from "../db/queries/rows.ts";
import { silentLogger } from "../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../server/platform/redis/redis.ts";
import type { Service } from "../test/support/process.ts";
import { cpuMicros, treeMicros } from "./processes.ts";
import { enter as enterAll } from "./guests.ts";
import { Latencies } from "./latencies.ts";
import { openFor } from "./lobby/field.ts";
import { postgresPid } from "./postgres.ts";
import { note, verdict, type Table } from "./report.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { pidsOf, withService } from "./service.ts";
import { warmUpSeconds } from "./requests.ts";
import { answerJobs, publicIds } from "./trivia.ts";

const path = "/v1/games/trivia/leaderboard";
/** A plain sorted set for comparison. */
const plainSet = "bench:plain";
const fillTimeoutMs = 600_000;
const batch = 10_000;
/** Answers recorded per second while the leaderboard is read. */
const answersPerSecond = 500;
const answerers = 50;
const targetMs = 10;

/** Measured one after another, through the whole service, on an otherwise idle machine. */
export const scenarios: Scenarios = {
  all: {
    about: "pages, ranks and searches of the global leaderboard, with a million players",
    async run({ isQuick }) {
      const players = isQuick ? 100_000 : 1_000_000;
      const rounds = isQuick ? 200 : 1_000;
      return withService(2, (service) => measureAll(service, players, rounds));
    },
  },
  search: {
    about:
      "searches of the global leaderboard, with a million players: each gets a timely response",
    async run({ isQuick }) {
      const players = isQuick ? 100_000 : 1_000_000;
      return withService(2, (service) => measureSearches(service, players));
    },
  },
};

/** Search terms for `Player_1`, `Player_2`, …, and their purpose. */
const searched: readonly (readonly [text: string, about: string])[] = [
  ["player", "every name"],
  ["r_", "every name, two characters"],
  ["77", "two characters"],
  ["player_7", "a common beginning"],
  ["123", "middling"],
  ["1234", "middling, longer"],
  ["player_77123", "few"],
  ["zzz", "none"],
  ["zq", "none, two characters"],
  ["er_play", "none, each part in every name"],
  ["冰霜", "none, Chinese"],
];
const searchTargetMs = 150;
const searchRounds = 41;

async function measureSearches(service: Service, players: number): Promise<Table[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
  try {
    const { id } = await enter(service.url);
    await timed(`${players} players written`, () => fill(orm.em.fork(), players, id));
    await timed("leaderboard built", () => untilBuilt(service.url + path));
    const rows: string[][] = [];
    for (const [text, about] of searched) rows.push(await measureSearch(service, text, about));
    return [
      {
        title: `searches of a leaderboard of ${players} players, sequential`,
        head: ["search", "what matches", "answer", "p50 ms", "max ms", "target"],
        rows,
      },
    ];
  } finally {
    await orm.close(true);
  }
}

async function measureSearch(service: Service, text: string, about: string): Promise<string[]> {
  const latencies = new Latencies();
  let shown = "";
  for (let n = 0; n < searchRounds; n++) {
    const started = performance.now();
    const answer = await fetch(`${service.url}${path}?search=${encodeURIComponent(text)}`);
    const { body } = (await answer.json()) as { body?: { total?: number } };
    latencies.add((performance.now() - started) * 1_000);
    shown = answer.status === 200 ? `${body?.total} matches` : `${answer.status}`;
  }
  const [p50, worst] = [latencies.at(0.5), latencies.at(1)];
  const target = verdict(p50, { limit: searchTargetMs, unit: " ms" });
  return [text, about, shown, p50.toFixed(1), worst.toFixed(1), target];
}

async function measureAll(service: Service, players: number, rounds: number): Promise<Table[]> {
  const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  try {
    const em = orm.em.fork();
    const caller = await enter(service.url);
    await timed(`${players} players written`, () => fill(orm.em.fork(), players, caller.id));
    await fillPlainSet(redis, players);
    const challenge = await fillChallenge(orm.em.fork());
    await settle(orm.em.fork(), ["runs"]);
    await timed("leaderboard built", () => untilBuilt(service.url + path));
    await timed("board of the challenge built", () => untilBuilt(service.url + challenge));
    const costs = await costsOf(service, em);
    const measured = [];
    for (const [name, once, share] of operationsOf({
      service,
      em,
      redis,
      players,
      caller,
      challenge,
    }))
      measured.push(await measure(name, once, { rounds: rounds / share, costs }));
    const read = () => get(service.url + path, { authorization: `Bearer ${caller.token}` });
    return [tableOf(players, measured), await readWhileAnswered(service, em, { read, costs })];
  } finally {
    redis.disconnect();
    await orm.close(true);
  }
}

type Work = [name: string, work: () => Promise<unknown>, share: number];

/** The measured requests; slow ones run for `share` of the rounds. */
function operationsOf(given: {
  service: Service;
  em: EntityManager;
  redis: Redis;
  players: number;
  caller: { id: number; token: string };
  challenge: string;
}): Work[] {
  const { service, em, redis, players, caller, challenge } = given;
  const any = (count: number) => Math.floor(Math.random() * count);
  const scan = sql`select player_id from player_stats
    order by total_score desc, score_at, player_id limit 20`;
  const page = () => 1 + any(players / 20);
  const read = (query: string, headers = {}) => get(`${service.url}${path}?${query}`, headers);
  const bearer = { authorization: `Bearer ${caller.token}` };
  return [
    ["bare ZREVRANK", () => redis.zrevrank(plainSet, `player:${any(players)}`), 1],
    ["bare index scan of 20", () => rowsOf(em, scan), 1],
    ["GET without work", () => get(`${service.url}/v1/games/trivia/categories`), 1],
    ["first page", () => read(""), 1],
    ["any page", () => read(`page=${page()}`), 1],
    ["any page, accuracy", () => read(`tab=accuracy&page=${page()}`), 1],
    ["page and own rank", () => read("", bearer), 1],
    ["answer, then page and own rank", () => answered(em, caller.id, () => read("", bearer)), 1],
    ["context of a challenge", () => get(`${service.url}${challenge}?top=1&radius=5`, bearer), 1],
    ["search, few matches", () => read(`search=player_77${any(1_000)}`), 1],
  ];
}

/** Reads the leaderboard continuously while players answer practice questions over HTTP. */
async function readWhileAnswered(
  service: Service,
  em: EntityManager,
  { read, costs }: { read: () => Promise<unknown>; costs: Costs },
): Promise<Table> {
  const jobs = answerJobs(await enterAll(service.url, answerers), await publicIds(em));
  const generator = await openFor(service, answerers);
  await generator.run(jobs, warmUpSeconds, answersPerSecond);
  const seconds = 20;
  let isOver = false;
  const load = generator.run(jobs, seconds, answersPerSecond).finally(() => (isOver = true));
  const latencies = new Latencies();
  const before = costs();
  while (!isOver) latencies.add(await microsOf(read));
  const { perSecond, p99Ms } = await load;
  generator.close();
  const used = costs().map((micros, at) => (micros - (before[at] ?? 0)) / (seconds * 1_000_000));
  return {
    title: `page and own rank, sequential, during ${answersPerSecond} answers per second`,
    head: ["answers/s", "answers' p99 ms", "p50 ms", "p99 ms", "target", ...costNames.map(coresOf)],
    rows: [
      [
        ...[perSecond.toFixed(0), p99Ms.toFixed(1)],
        ...[latencies.at(0.5).toFixed(1), latencies.at(0.99).toFixed(1)],
        verdict(latencies.at(0.99), { limit: targetMs, unit: " ms" }),
        ...used.map((cores) => cores.toFixed(2)),
      ],
    ],
  };
}

const coresOf = (name: string) => `${name} cores`;

/** CPU time so far, in the order of `costNames`. */
type Costs = () => number[];
const costNames = ["workers", "Redis", "Postgres"];

async function costsOf(service: Service, em: EntityManager): Promise<Costs> {
  const { pids, redisPids } = await pidsOf(service);
  const postgres = await postgresPid(em);
  return () => [cpuMicros(pids), cpuMicros(redisPids), treeMicros(postgres)];
}

async function fillPlainSet(redis: Redis, players: number): Promise<void> {
  for (let from = 0; from < players; from += batch)
    await redis.zadd(
      plainSet,
      ...Array.from({ length: batch }, (_, n) => [(from + n) * 7, `player:${from + n}`]).flat(),
    );
}

/** A challenge finished by all players; returns the path of its leaderboard. */
async function fillChallenge(em: EntityManager): Promise<string> {
  return em.transactional(async (tx) => {
    await rowsOf(tx, sql`select set_config('statement_timeout', ${String(fillTimeoutMs)}, true)`);
    await rowsOf(tx, sql`alter table runs disable trigger user`);
    const [row] = await rowsOf<{ id: number }>(
      tx,
      sql`insert into challenges (kind, date, question_ids, created_at)
        values ('gauntlet', '2020-01-01', '{}', now()) returning id`,
    );
    const id = row?.id ?? 0;
    await timed("runs written", () =>
      rowsOf(
        tx,
        sql`insert into runs (player_id, mode, challenge_id, score, total_time_ms, question_ids,
            is_finished, shown_at, touched_at, created_at, finished_at)
          select player_id, 'gauntlet', ${id}, (random() * 400)::int * 50, (random() * 300000)::int, '{}',
            true, now(), now(), now(), now() - random() * interval '1 day'
          from player_stats`,
      ),
    );
    await rowsOf(tx, sql`alter table runs enable trigger user`);
    return `${path}/challenges/${id}`;
  });
}

/** Realistic values after years of play: few ties at the top, many on streaks and accuracy. */
async function fill(em: EntityManager, players: number, callerId: number): Promise<void> {
  await em.transactional(async (tx) => {
    await rowsOf(tx, sql`select set_config('statement_timeout', ${String(fillTimeoutMs)}, true)`);
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
  await settle(em, ["players", "player_stats"]);
}

/** Waits for the follow-up work of a bulk insert before anything is measured. */
async function settle(em: EntityManager, tables: readonly string[]): Promise<void> {
  for (const table of tables) await rowsOf(em, sql`vacuum (analyze) ${sql.table(table)}`);
  await rowsOf(em, sql`checkpoint`);
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

/** Clients get a 503 while a large leaderboard is built. */
async function untilBuilt(url: string): Promise<void> {
  while ((await fetch(url)).status === 503);
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
  /** CPU time per request, in the order of `costNames`. */
  micros: number[];
}

async function microsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) * 1_000;
}

async function measure(
  name: string,
  work: () => Promise<unknown>,
  { rounds, costs }: { rounds: number; costs: Costs },
): Promise<Measured> {
  const latencies = new Latencies();
  for (let n = 0; n < 10; n++) await work();
  const before = costs();
  for (let n = 0; n < rounds; n++) latencies.add(await microsOf(work));
  const micros = costs().map((after, at) => (after - (before[at] ?? 0)) / rounds);
  return { name, p50: latencies.at(0.5), p99: latencies.at(0.99), micros };
}

function tableOf(players: number, measured: readonly Measured[]): Table {
  const [rank, scan] = measured;
  const against = (p50: number, bare: Measured | undefined) =>
    bare === undefined ? "" : `${(p50 / bare.p50).toFixed(1)}x`;
  return {
    title: `leaderboards of ${players} players, sequential requests; us = CPU per request`,
    head: [
      ...["what", "p50 ms", "p99 ms", "vs ZREVRANK", "vs index scan"],
      ...costNames.map((name) => `${name} us`),
    ],
    rows: measured.map(({ name, p50, p99, micros }) => [
      ...[name, p50.toFixed(1), p99.toFixed(1)],
      ...[against(p50, rank), against(p50, scan)],
      ...micros.map((one) => one.toFixed(0)),
    ]),
  };
}
