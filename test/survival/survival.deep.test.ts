import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSurvival } from "./report.ts";
import { survive } from "./survive.ts";

test("nothing acknowledged is lost or doubled while workers die, one freezes and Redis restarts", async (t) => {
  const report = await survive({
    seconds: 15,
    lobbies: 8,
    seed: 1,
    report: (line) => t.diagnostic(line),
  });
  for (const line of describeSurvival(report)) t.diagnostic(line);
  const { findings, ...counts } = report.verdict;
  assert.deepEqual(findings, []);
  assert.deepEqual(counts, { lost: 0, doubled: 0, gaps: 0, differing: 0, surprises: 0 });
  assert.ok(report.faults.kills > 0 && report.faults.freezes > 0 && report.faults.restarts > 0);
  assert.ok(report.direct > 100, `only ${report.direct} requests directly to the owner`);
  assert.ok(report.acknowledged > 100, `only ${report.acknowledged} commands`);
  const { announced, silent } = report.faults.takeovers;
  // Each time ends with a response; it is printed without a limit, because the machine may be busy.
  assert.ok(announced.length > 0 && silent.length > 0, "takeovers were measured");
});
