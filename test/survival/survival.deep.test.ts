import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSurvival, takeoversOf } from "../../bench/faults/report.ts";
import { survive } from "../../bench/faults/survive.ts";

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
  const kinds = new Set(report.faults.map(({ name }) => name));
  assert.deepEqual([...kinds].toSorted(), ["freeze-worker", "kill-worker", "restart-redis"]);
  assert.ok(report.direct > 100, `only ${report.direct} requests directly to the owner`);
  assert.ok(report.acknowledged > 100, `only ${report.acknowledged} commands`);
  // Each time ends with a response; it is printed without a limit, because the machine may be busy.
  for (const kind of ["kill-worker", "freeze-worker"] as const)
    assert.ok(takeoversOf(report, kind).length > 0, `takeovers after ${kind} were measured`);
});
