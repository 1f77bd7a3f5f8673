import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { Change } from "../../../server/features/operators/domain/operators.ts";
import { createAudit } from "../../../server/operator/audit.ts";
import { AppError } from "../../../server/platform/errors.ts";

const by = { caller: { name: "olga", role: "operator" }, request: { id: "request-1" } } as const;
const change = { action: "job:retry", target: "mail 7", reason: "mended" } as const;

describe("the audit of a change", () => {
  const begun: Change[] = [];
  const ends: unknown[] = [];
  const lines: unknown[] = [];
  let fault: "begin" | "end" | null = null;
  const audit = createAudit(
    {
      begin: async (entry) => {
        if (fault === "begin") throw new Error("away");
        begun.push(entry);
        return 3;
      },
      end: async (id, end) => {
        if (fault === "end") throw new Error("away");
        ends.push({ id, ...end });
      },
    },
    { warn: (facts: unknown) => lines.push(facts), error: (facts: unknown) => lines.push(facts) },
  );
  beforeEach(() => {
    fault = null;
    for (const list of [begun, ends, lines]) list.length = 0;
  });

  it("is written as started before the change, with operator and request, and as done after it", async () => {
    const result = await audit(by, { ...change, countOf: (count: number) => count }, async () => {
      assert.deepEqual(begun, [
        { ...change, operator: "olga", requestId: "request-1", outcome: "started" },
      ]);
      assert.deepEqual(ends, []);
      return 12;
    });
    assert.equal(result, 12);
    assert.deepEqual(ends, [{ id: 3, outcome: "done", numChanged: 12 }]);
  });

  it("says whether the change was refused or failed", async () => {
    const refused = new AppError("job:not_failed");
    await assert.rejects(
      audit(by, change, () => Promise.reject(refused)),
      refused,
    );
    const failed = new Error("broken");
    await assert.rejects(
      audit(by, change, () => Promise.reject(failed)),
      failed,
    );
    const outcomeOf = () => "refused" as const;
    await audit(by, { ...change, outcomeOf }, async () => "a refusal as a result");
    assert.deepEqual(
      ends.map((end) => (end as { outcome: string }).outcome),
      ["refused", "failed", "refused"],
    );
  });

  it("prevents a change that cannot be recorded", async () => {
    fault = "begin";
    let isMade = false;
    await assert.rejects(
      audit(by, change, async () => {
        isMade = true;
      }),
      /away/,
    );
    assert.equal(isMade, false);
  });

  it("stays started, with a log line, if the outcome cannot be written; the change is made", async () => {
    fault = "end";
    assert.equal(await audit(by, change, async () => "made"), "made");
    const [, line] = lines as [unknown, { event: string; outcome: string }];
    assert.deepEqual([line.event, line.outcome], ["audit_outcome_failed", "done"]);
  });
});
