import assert from "node:assert/strict";
import { after, before } from "node:test";
import { startApp, type App } from "../../../../support/app.ts";
import {
  makePlayers,
  rankAll,
  tabs,
  writeTotals,
  type Ranked,
  type Tab,
  type Totals,
} from "./model.ts";

interface Board {
  entries: (Ranked & { player_id: number; rank_prev: number; is_player: boolean; level: number })[];
  total: number;
  page: number;
  has_more: boolean;
  player_rank: { rank: number; value: number } | null;
}

export const path = "/v1/games/trivia/leaderboard";
export const start = Date.parse("2026-03-01T10:00:00Z");
export let app: App;
export const players: Totals[] = [];

export async function read(query: Record<string, string | number>, headers = {}): Promise<Board> {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  const { status, body } = await app.client.get(`${path}?${text}`, { headers });
  assert.equal(status, 200, `${text}`);
  return body as Board;
}

export const shown = ({ entries }: Board): Ranked[] =>
  entries.map(({ player_id: id, name, rank, value }) => ({ id, name, rank, value }));

/** Compares every page of a tab with the model. */
export async function comparePages(tab: Tab, limit: number): Promise<void> {
  const expected = rankAll(players, tab);
  const pages = Math.max(1, Math.ceil(expected.length / limit));
  for (let page = 1; page <= pages; page++) {
    const board = await read({ tab, limit, page });
    assert.deepEqual(shown(board), expected.slice((page - 1) * limit, page * limit), tab);
    assert.equal(board.total, expected.length);
    assert.equal(board.has_more, page < pages);
  }
}

/** Forty players with totals, many of them equal. */
export async function fillBoard(): Promise<void> {
  const names = Array.from({ length: 40 }, (_, n) => `Board_${n}`);
  const ids = await makePlayers(app, names);
  for (const [n, id] of ids.entries())
    players.push({
      ...{ id, name: names[n] ?? "", answers: 4 + (n % 5), correct: n % 4 },
      ...{ score: n % 7, scoreAt: start + (n % 4), xp: n % 5, xpAt: start + (n % 3) },
      ...{ streak: n % 4, streakAt: start + (n % 2) },
    });
  await writeTotals(app, players);
  for (const tab of tabs) await comparePages(tab, 20);
}

/** The service with an empty leaderboard. */
export function startsBoardApp(): void {
  before(async () => {
    players.length = 0;
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());
}
