import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noFaults } from "../../../../../server/platform/faults/recorder.ts";
import { noOrigin } from "../../../../../server/platform/origin.ts";
import { silentLogger } from "../../../../../server/platform/log/logger.ts";
import { postMessages } from "../../../../../server/features/delivery/domain/send.ts";

/**
 * Sends messages to a queue that accepts each at the second attempt; resolves once `wanted` were accepted.
 */
async function post(numMessages: number, wanted: number): Promise<number> {
  const asked = new Set<number>();
  let numTaken = 0;
  await new Promise<void>((resolve) => {
    const enqueue = async (_: unknown, { messageId }: { messageId: number }) => {
      if (!asked.has(messageId)) {
        asked.add(messageId);
        throw new Error("away");
      }
      if (++numTaken === wanted) resolve();
    };
    const ids = Array.from({ length: numMessages }, (_, n) => n);
    void postMessages(
      { enqueue, log: silentLogger, faults: noFaults, origin: noOrigin } as never,
      ids,
    );
  });
  return numTaken;
}

describe("messages that could not be queued", () => {
  it("are retried, but only the first five hundred at once", async () => {
    // Pending retries keep no process alive.
    const alive = setInterval(() => {}, 1_000);
    assert.equal(await post(3, 3), 3);
    assert.equal(await post(600, 500), 500);
    assert.equal(await post(500, 500), 500);
    clearInterval(alive);
  });
});
