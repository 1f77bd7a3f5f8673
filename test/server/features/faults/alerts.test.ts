import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Failure } from "../../../../server/features/faults/domain/failures.ts";
import { dueAlerts, episodeOf } from "../../../../server/features/faults/domain/alerts.ts";
import { sampleFailure } from "../../operator/failures/sample-failure.ts";

const at = new Date("2026-03-01T12:00:00Z");
const failure = (
  changes: Partial<Failure>,
  decided?: "open" | "resolved" | "ignored",
): Failure => ({
  ...sampleFailure,
  decision: decided ? ({ state: decided, stateAt: at } as Failure["decision"]) : null,
  ...changes,
});

describe("what is announced of a group of failures", () => {
  it("is that it is new, or open again after a decision", () => {
    const reopened = `reopened ${at.getTime()}`;
    for (const [given, name] of [
      [failure({ state: "open" }), "new"],
      [failure({ state: "unknown" }), "new"],
      [failure({ state: "open" }, "open"), "new"],
      [failure({ state: "open" }, "resolved"), reopened],
      [failure({ state: "open" }, "ignored"), reopened],
      [failure({ state: "resolved" }, "resolved"), undefined],
      [failure({ state: "ignored" }, "ignored"), undefined],
      [failure({ state: "open", key: { ...sampleFailure.key, code: "alert.status" } }), undefined],
    ] as const)
      assert.equal(episodeOf(given)?.name, name, `${given.state} ${given.decision?.state}`);
  });

  it("is said once for each time, in the order in which groups began", () => {
    const first = failure({ id: "1-a", state: "open", firstMs: 1 });
    const second = failure({ id: "1-b", state: "open", firstMs: 2 });
    const again = failure({ id: "1-c", state: "open", firstMs: 0, lastMs: 3 }, "resolved");
    const all = [again, second, first];
    const idsOf = (announced: Record<string, string>) =>
      dueAlerts(all, new Map(Object.entries(announced))).map((alert) => alert.failure.id);
    assert.deepEqual(idsOf({}), ["1-a", "1-b", "1-c"]);
    const reopened = `reopened ${at.getTime()}`;
    assert.deepEqual(idsOf({ "1-a": "new", "1-b": "reopened 7", "1-c": "new" }), ["1-c"]);
    assert.deepEqual(idsOf({ "1-a": "new", "1-b": "new", "1-c": reopened }), []);
    assert.deepEqual(idsOf({ "1-a": "new", "1-b": "new", "1-c": "reopened 7" }), ["1-c"]);
  });
});
