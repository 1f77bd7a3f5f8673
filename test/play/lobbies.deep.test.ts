import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { LocalGames } from "../../bench/local-games.ts";
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

  it("plays twenty four-player lobbies at once to the end, half co-op and half versus, and stores their results", async () => {
    const games = new LocalGames(service.url);
    const options = { seats: 4, questions: 3, timer: 60, thinkMs: [0, 50] } as const;
    await Promise.all(
      (["coop", "versus"] as const).map((mode) => games.play(10, { ...options, mode })),
    );
    assert.deepEqual(await games.verify(service.databaseUrl), []);
  });
});
