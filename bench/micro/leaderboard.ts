import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { rowsOf } from "../../db/queries/rows.ts";
import { newPlayer } from "../../test/support/player.ts";
import type { Service } from "../../test/support/process.ts";
import type { Scenario } from "../floor-scenario.ts";
import { note, type Table } from "../report.ts";
import { withService } from "../service.ts";
import { millisOf, timeInTurns, timesTable, type Limit, type Work } from "./in-turns.ts";
import { withDatabase } from "./with-stores.ts";

const path = "/v1/games/trivia/leaderboard";
/** Search terms for `Player_1`, `Player_2`, …, from every name to none. */
const searched = [
  ...["player", "r_", "77", "player_7", "123", "1234", "player_77123"],
  ...["zzz", "zq", "er_play", "冰霜"],
];

export const leaderboard: Scenario = {
  about: "pages and searches of a million players",
  run: ({ isQuick }) =>
    withService(2, (service) =>
      measure(service, isQuick ? 100_000 : 1_000_000, isQuick ? 200 : 1_000),
    ),
};

async function measure(service: Service, players: number, rounds: number): Promise<Table[]> {
  const caller = await newPlayer(service.url, "Caller");
  await withDatabase(service, (orm) => fill(orm.em.fork(), players, caller.accountId));
  const url = service.url + path;
  // Clients get a 503 while a large leaderboard is built.
  const built = await millisOf(async () => {
    while ((await fetch(url)).status === 503);
  });
  note(`leaderboard of ${players} players built in ${(built / 1_000).toFixed(1)} s`);
  const page = () => 1 + Math.floor((Math.random() * players) / 20);
  const pages: Record<string, Work> = {
    "any page": () => get(`${url}?page=${page()}`),
    "any page, accuracy": () => get(`${url}?tab=accuracy&page=${page()}`),
    "page and own rank": () => get(url, { authorization: `Bearer ${caller.accessToken}` }),
  };
  const searches = searched.map((text): [string, Work] => [
    `search, ${text}`,
    // Refused rather than late.
    () => get(`${url}?search=${encodeURIComponent(text)}`, {}, [200, 400, 503]),
  ]);
  const table = async (works: Record<string, Work>, count: number, limit: number) => {
    const limits = Object.keys(works).map((name): [string, Limit] => [name, { limit }]);
    const measured = await timeInTurns(works, { rounds: count });
    return timesTable(`reads among ${players} players`, measured, Object.fromEntries(limits));
  };
  return [await table(pages, rounds, 10), await table(Object.fromEntries(searches), 41, 150)];
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
