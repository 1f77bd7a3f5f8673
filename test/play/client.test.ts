import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { LocalGames } from "../../bench/local-games.ts";
import { startService, type Service } from "../support/process.ts";

describe("clients of a service whose workers are killed", () => {
  let service: Service;
  before(async () => {
    const env = {
      HTTP_WORKERS: "2",
      RATE_LIMIT_FACTOR: "0",
      LOBBY_MIN_QUESTION_MS: "0",
    };
    service = await startService({ env, sharesPostgres: true });
  });
  after(async () => {
    await service.stop();
  });

  it("loses no answer and no event", async () => {
    const [count, seats, questions] = [4, 3, 3];
    const games = new LocalGames(service.url);
    // While the answers to the second question are in flight.
    const killed = games.reached("answer", count * seats + 2).then(async () => {
      const [victim] = await service.workerPids();
      assert.ok(victim);
      process.kill(victim, "SIGKILL");
    });
    await games.play(count, { seats, questions, timer: 60, thinkMs: [0, 50] });
    await killed;
    assert.deepEqual(await games.verify(service.databaseUrl), []);
  });
});
