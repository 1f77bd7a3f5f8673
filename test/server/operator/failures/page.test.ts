import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Failure } from "../../../../server/features/faults/domain/failures.ts";
import type { OperatorRole } from "../../../../server/http/auth/auth.ts";
import { failureRoutes, type FailuresDeps } from "../../../../server/operator/failures/routes.ts";
import { answerOf } from "../call-route.ts";
import { listAudits } from "../audits.ts";
import { noActions } from "./no-actions.ts";
import { sampleFailure } from "./sample-failure.ts";

const html = { accept: "text/html" };

describe("the pages of failures", () => {
  const open = async (
    path: string,
    { role = "operator" as OperatorRole, failure = {} as Partial<Failure>, hasStates = true } = {},
  ) => {
    const shown = { ...sampleFailure, ...failure };
    const deps: FailuresDeps = {
      failures: {
        list: async () => ({
          failures: [shown],
          hasStates,
          groupsFromMs: null,
          jobsFromMs: null,
          numDropped: 3,
        }),
        find: async () => shown,
        setState: async () => undefined,
        setNote: async () => undefined,
      },
      failureActions: noActions,
      audit: listAudits(),
    };
    const { status, text } = await answerOf<FailuresDeps, unknown>(failureRoutes, deps, path, {
      role,
      headers: html,
    });
    assert.equal(status, 200);
    return text;
  };
  const detail = `/operator/failures/${sampleFailure.id}`;

  it("list each group with its cause and its figures", async () => {
    const text = await open("/operator/failures?state=open");
    const row = /<tbody>[^]*?<\/tbody>/.exec(text)?.[0] ?? "";
    const cells = [...row.matchAll(/<td>([^]*?)<\/td>/g)].map(([, cell = ""]) =>
      cell.replaceAll(/<[^>]*>/g, "").trim(),
    );
    assert.deepEqual(cells, [
      "smtp.refused",
      "job mail",
      "mail.example:25",
      "550",
      "41",
      "7",
      "12",
      "2026-03-01T11:00:00",
      "2026-03-01T12:00:00",
      "open",
    ]);
    assert.ok(text.includes(`href="${detail}"`));
    assert.match(text, /<b>Open<\/b>[^]*not recorded: 3/);
  });

  it("say when states are unknown", async () => {
    const text = await open("/operator/failures", { hasStates: false });
    assert.match(text, /class="wrong">Postgres does not respond/);
  });

  it("escape every text from elsewhere", async () => {
    const evil = `"><img src=x onerror=alert(1)>`;
    const { example } = sampleFailure;
    assert.ok(example);
    const job = { queue: evil, id: evil, attempt: 1 };
    const failure: Partial<Failure> = {
      key: {
        ...{ kind: "job", place: evil, code: evil, peer: evil },
        ...{ status: 550, name: evil, text: evil, source: evil },
      },
      decision: { ...sampleFailure.decision, stateBy: evil, note: evil, noteBy: evil } as never,
      example: {
        ...{ ...example, text: evil, stack: evil, requestId: evil },
        ...{ room: evil, job, process: evil },
      },
    };
    for (const path of ["/operator/failures", detail]) {
      const text = await open(path, { failure });
      assert.ok(text.includes("&#60;img src=x onerror=alert(1)&#62;"), path);
      assert.doesNotMatch(text, /<img/, path);
    }
  });

  it("show the counts of a day as columns, without a style of their own", async () => {
    const text = await open(detail);
    assert.equal(text.match(/<rect/g)?.length, 24);
    assert.match(text, /one value per hour, oldest first\. Occurrences: (?:0, ){22}5, 7\."/);
    assert.doesNotMatch(text, /style=|<style/);
  });

  it("link the player and the job of the example", async () => {
    const text = await open(detail);
    assert.match(text, /href="\/operator\/players\/77"[^]*href="\/operator\/jobs\/mail\/j%2F1"/);
    assert.match(text, /<pre>no such mailbox\n {4}at send/);
  });

  it("take hours and a number where a group is ignored, and nowhere else", async () => {
    for (const [state, isOffered] of [
      ["open", true],
      ["resolved", true],
      ["ignored", false],
    ] as const) {
      const text = await open(detail, { failure: { state } });
      const [form = ""] = text.split("<form").filter((part) => part.includes('name="hours"'));
      assert.equal(form !== "", isOffered, state);
      if (isOffered) assert.match(form, /name="more"[^]*value="ignored"/);
    }
    assert.doesNotMatch(await open(detail, { role: "viewer" }), /name="hours"/);
  });

  for (const [state, offered] of [
    ["open", ["resolved", "ignored"]],
    ["ignored", ["resolved", "open"]],
    ["resolved", ["ignored", "open"]],
  ] as const)
    it(`offer of a group that is ${state} the other states`, async () => {
      const text = await open(detail, { failure: { state } });
      const shown = [...text.matchAll(/name="state" value="(\w+)"/g)].map(([, name]) => name);
      assert.deepEqual(shown, offered);
      assert.ok(text.includes("ask the provider"), "the note");
    });
});
