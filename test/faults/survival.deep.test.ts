import assert from "node:assert/strict";
import { test } from "node:test";
import { startSeconds, survivalBeside } from "../../bench/faults/beside.ts";
import { describeFault } from "../../bench/report/faults.ts";
import type { Fault } from "../../bench/report/schema.ts";
import { runBench } from "../bench/runs.ts";

const seconds = 15;
const users = 8;

test("nothing acknowledged is lost or doubled while workers die, one freezes and Redis restarts", async (t) => {
  const report = await runBench("survival", {
    load: { shape: "closed", users, seconds: startSeconds + seconds },
    beside: survivalBeside(seconds, users),
  });
  const { faults, problems, operations, requests } = report;
  for (const fault of faults) t.diagnostic(describeFault(fault));
  assert.deepEqual(report.violations, []);
  assert.deepEqual(problems, []);
  const kinds = new Set(faults.map(({ name }) => name));
  assert.deepEqual([...kinds].toSorted(), ["freeze-worker", "kill-worker", "restart-redis"]);
  const choices = operations.filter(({ name }) => name === "answer" || name === "pick");
  const acknowledged = choices.reduce((sum, { count }) => sum + count, 0);
  // Two questions at least, for four players of each lobby.
  assert.ok(acknowledged >= 8 * users, `only ${acknowledged} choices`);
  assert.ok((requests.direct ?? 0) > users, `only ${requests.direct} requests to the owner`);
  // Each time ends with a response; it is printed without a limit, because the machine may be busy.
  const isHit = ({ name, recoveriesMs }: Fault) =>
    name !== "restart-redis" && recoveriesMs.length > 0;
  assert.ok(faults.some(isHit), "no takeover was measured");
});
