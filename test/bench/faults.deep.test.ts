import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planBeside } from "../../bench/faults/beside.ts";
import { faultKinds, planFaults, type FaultKind } from "../../bench/faults/plan.ts";
import type { Beside } from "../../bench/load/beside.ts";
import { reportPage } from "../../bench/report/page.ts";
import type { Fault } from "../../bench/report/schema.ts";
import { eventually } from "../support/eventually.ts";
import { runBench, type TestRun } from "./runs.ts";

/** The faults come every two seconds from the time on at which games are played, however slow the machine is. */
const everyMs = 2_000;
const inPlay = (kinds: readonly FaultKind[]) => async (context: Beside) => {
  await eventually("games are played", async () => (await context.lobbies()).length > 2);
  const nowMs = performance.now() - context.startedAt;
  return planBeside(
    context,
    kinds.map((kind, n) => ({ kind, atMs: nowMs + n * everyMs })),
  );
};

/** Plays games under these faults, and returns the faults of the report. */
async function hits(kinds: readonly FaultKind[], given: Partial<TestRun>): Promise<Fault[]> {
  const load = { shape: "constant", perSecond: 1, seconds: 12 } as const;
  const report = await runBench("games", { load, beside: inPlay(kinds), ...given });
  assert.deepEqual(report.violations, []);
  assert.equal(report.status, "completed", report.problems.join());
  assert.deepEqual(
    report.faults.map(({ name }) => name),
    kinds,
  );
  const page = reportPage(report);
  for (const kind of kinds) assert.ok(page.includes(`${kind} at `), kind);
  return report.faults;
}

describe("the faults of a run", () => {
  it("come at times that the seed repeats, and leave time to recover", () => {
    const plan = planFaults(faultKinds, 60, 7);
    assert.deepEqual(planFaults(faultKinds, 60, 7), plan);
    assert.notDeepEqual(planFaults(faultKinds, 60, 8), plan);
    assert.deepEqual(plan.map(({ kind }) => kind).toSorted(), [...faultKinds].toSorted());
    const times = plan.map(({ atMs }) => atMs);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times.every((atMs) => atMs < 55_000));
  });

  it("hit workers under whole games, which lose nothing that was acknowledged", async () => {
    const kinds = ["freeze-worker", "kill-worker", "drain-worker"] as const;
    const faults = await hits(kinds, { settings: { HTTP_WORKERS: "3" } });
    assert.ok(
      faults.some(({ recoveriesMs }) => recoveriesMs.length > 0),
      "lobbies of a victim were probed",
    );
  });

  it("end the run with 1 when there is nothing that they could hit", async () => {
    const beside = (context: Beside) => planBeside(context, [{ kind: "cut-streams", atMs: 100 }]);
    const load = { shape: "constant", perSecond: 20, seconds: 2 } as const;
    const report = await runBench("http", { load, beside });
    assert.equal(report.exitCode, 1);
    assert.deepEqual(report.faults, []);
    assert.match(report.problems.join(), /cut-streams did not happen: no stream was open/);
  });

  it("hit the stores and the streams, which come back", async () => {
    const kinds = ["cut-streams", "restart-postgres", "restart-redis"] as const;
    const [cut, ...stores] = await hits(kinds, { hasOwnPostgres: true });
    assert.ok((cut?.recoveriesMs.length ?? 0) > 0, "streams were cut and came back");
    for (const { name, at, until } of stores)
      assert.ok(until !== null && until > at, `${name} until ${until}`);
  });
});
