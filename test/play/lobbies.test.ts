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

  it("goes on with every game when one HTTP worker is killed in the middle", async () => {
    const tables = await Promise.all(
      ["Kill A", "Kill B", "Kill C", "Kill D", "Kill E", "Kill F"].map(table),
    );
    let isKilled = false;
    const disturb = async (question: number) => {
      if (question !== 1 || isKilled) return;
      isKilled = true;
      const [victim] = await service.workerPids();
      assert.ok(victim);
      process.kill(victim, "SIGKILL");
    };
    const finals = await Promise.all(
      tables.map((players: Player[], i) =>
        playGame(players, { mode: i % 2 === 0 ? "coop" : "versus", questions: 4, disturb }),
      ),
    );
    assert.ok(isKilled);
    for (const final of finals) assert.equal(final.status, "finished");
  });
});
