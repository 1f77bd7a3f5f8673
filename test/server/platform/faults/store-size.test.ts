import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { GroupedOccurrences } from "../../../../server/platform/faults/batch.ts";
import { maxWaiting } from "../../../../server/platform/batch-writer.ts";
import { numPeriods, usualBounds } from "../../../../server/platform/faults/store.ts";
import { openFaults, startedAt } from "./stored-faults.ts";

/** Bytes of Redis for all groups, jobs and counts. */
const budget = 40 * 1024 * 1024;
const mostPlayers = 500;

describe("the store of faults at its bounds", () => {
  let faults: Awaited<ReturnType<typeof openFaults>>;
  before(async () => {
    faults = await openFaults();
  });
  after(() => faults.stop());

  /** A group with words, an example, players and counts of the greatest size. */
  const groupOf = (at: number, jobs: [string, number][]): GroupedOccurrences => ({
    id: `1-${at.toString(16).padStart(16, "0")}`,
    key: JSON.stringify({ place: "question-generation", text: "w".repeat(400) }),
    place: "question-generation",
    firstMs: startedAt,
    lastMs: startedAt + at,
    total: jobs.length,
    periods: Array.from({ length: numPeriods }, (_, period) => [period, 1]),
    players: Array.from({ length: mostPlayers }, (_, player) => at * mostPlayers + player),
    jobs,
    requestIds: [],
    example: "e".repeat(1_900),
  });

  it("takes at most 40 MiB, also after more groups and jobs than it keeps", async () => {
    const { maxGroups, maxJobs } = usualBounds;
    const perGroup = Math.ceil((1.05 * maxJobs) / maxGroups);
    for (let at = 0; at < 1.05 * maxGroups; at++) {
      // As long as the ids of the jobs that generate questions.
      const jobs = Array.from({ length: perGroup }, (_, n): [string, number] => [
        `generate-general_knowledge-medium-both-1a2b3c4-${String(at * perGroup + n).padStart(22, "0")}`,
        startedAt + at * perGroup + n,
      ]);
      for (let from = 0; from < jobs.length; from += maxWaiting)
        await faults.store.write({
          ...{ instance: "i", seq: at * 1_000 + from + 1, numDropped: 0 },
          groups: [groupOf(at, jobs.slice(from, from + maxWaiting))],
        });
    }
    const { redis } = faults;
    assert.equal(await redis.zcard("jobs:faults:groups"), maxGroups);
    assert.equal(await redis.hlen("jobs:faults:owners"), maxJobs);
    let bytes = 0;
    for (const key of await redis.keys("jobs:faults:*"))
      bytes += Number(await redis.memory("USAGE", key, "SAMPLES", 0));
    assert.ok(bytes <= budget, `${(bytes / 1024 / 1024).toFixed(1)} MiB`);
  });
});
