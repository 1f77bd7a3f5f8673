import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { playGame } from "../support/game.ts";
import { newPlayer, type Player } from "../support/player.ts";
import { startService, type Service } from "../support/process.ts";

describe("a whole service with two HTTP workers", () => {
  let service: Service;

  before(async () => {
    service = await startService({
      sharesPostgres: true,
      env: { HTTP_WORKERS: "2", RATE_LIMIT_FACTOR: "0", LOBBY_MIN_QUESTION_MS: "0" },
    });
  });
  after(async () => {
    await service.stop();
  });

  const table = (name: string) =>
    Promise.all([1, 2, 3, 4].map((seat) => newPlayer(service.url, `${name} player ${seat}`)));

  it("plays twenty four-player lobbies at once to the end, half co-op and half versus", async () => {
    const games = Array.from({ length: 20 }, async (_, i) => {
      const players = await table(`Table ${i}`);
      return playGame(players, { mode: i % 2 === 0 ? "coop" : "versus", questions: 3 });
    });
    const finals = await Promise.all(games);
    assert.equal(finals.length, 20);
    for (const final of finals) assert.equal(final.players.length, 4);
  });

  it("continues every game when one HTTP worker is killed mid-game", async () => {
    const tables = await Promise.all(
      ["Kill A", "Kill B", "Kill C", "Kill D", "Kill E", "Kill F"].map(table),
    );
    let isKilled = false;
    const injectFault = async (question: number) => {
      if (question !== 1 || isKilled) return;
      isKilled = true;
      const [victim] = await service.workerPids();
      assert.ok(victim);
      process.kill(victim, "SIGKILL");
    };
    const finals = await Promise.all(
      tables.map((players: Player[], i) =>
        playGame(players, { mode: i % 2 === 0 ? "coop" : "versus", questions: 4, injectFault }),
      ),
    );
    assert.ok(isKilled);
    for (const final of finals) assert.equal(final.status, "finished");
  });

  it("writes results to player statistics and to the finished lobbies", async () => {
    const players = await table("Recorded");
    const final = await playGame(players, { mode: "versus", questions: 2 });
    const rows = await storedResult(service, final.code);
    assert.equal(rows.answers, 8);
    for (const [i, player] of players.entries()) {
      const seat = final.players.find((entry) => entry.id === player.seatId);
      assert.ok(seat);
      assert.deepEqual(
        rows.players.get(player.accountId),
        { answers: 2, correct: seat.num_correct, score: seat.score },
        `player ${i}`,
      );
    }
  });
});

interface Stored {
  answers: number;
  players: Map<number, { answers: number; correct: number; score: number }>;
}

/** Waits for the result job of a lobby and reads what it wrote. */
async function storedResult(service: Service, code: string): Promise<Stored> {
  const { withClient } = await import("../../server/runtime/stores/postgres.ts");
  return withClient(service.databaseUrl, async (client) => {
    const deadline = performance.now() + 60_000;
    for (;;) {
      const found = await client.query("select id from lobby_results where code = $1", [code]);
      if (found.rows.length > 0) break;
      if (performance.now() > deadline) throw new Error(`no result of ${code} within 10 s`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const answers = await client.query(
      "select count(*)::int as n from lobby_answers a join lobby_results r on r.id = a.lobby_result_id where r.code = $1",
      [code],
    );
    const stats = await client.query(
      `select s.player_id, s.total_answers, s.total_correct, s.total_score::int as score from player_stats s
       where s.player_id in (select a.player_id from lobby_answers a join lobby_results r on r.id = a.lobby_result_id where r.code = $1)`,
      [code],
    );
    return {
      answers: answers.rows[0].n as number,
      players: new Map(
        stats.rows.map((row) => [
          row.player_id as number,
          {
            answers: row.total_answers as number,
            correct: row.total_correct as number,
            score: row.score as number,
          },
        ]),
      ),
    };
  });
}
