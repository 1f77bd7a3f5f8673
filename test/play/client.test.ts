import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startService, type Service } from "../support/process.ts";
import { assertNothingLost, openTable, playOut } from "./table.ts";

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
    const tables = await Promise.all([1, 2, 3, 4].map((n) => openTable(service.url, n)));
    let killed: Promise<void> | null = null;
    const killOne = () =>
      (killed ??= (async () => {
        const [victim] = await service.workerPids();
        assert.ok(victim);
        process.kill(victim, "SIGKILL");
      })());
    await Promise.all(tables.map((sitters) => playOut(sitters, killOne)));
    tables.forEach(assertNothingLost);
  });
});
