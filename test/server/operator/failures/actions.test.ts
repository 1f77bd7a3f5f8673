import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { FaultAction } from "../../../../db/entities/fault-action.ts";
import { operatorRoles, type OperatorRole } from "../../../../server/http/auth/auth.ts";
import type { NewAction } from "../../../../server/features/faults/domain/actions.ts";
import { maxRate, usualRate } from "../../../../server/features/faults/domain/action-bounds.ts";
import type { AuditEntry } from "../../../../server/operator/audit.ts";
import { failureRoutes, type FailuresDeps } from "../../../../server/operator/failures/routes.ts";
import { mayMake, type Action } from "../../../../server/operator/roles.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { startOperatorPart } from "../../../support/operator.ts";
import { startedAt } from "../../platform/faults/stored-faults.ts";
import { listAudits } from "../audits.ts";
import { sampleFailure } from "./sample-failure.ts";

const row: FaultAction = {
  ...{ id: 7, groupId: sampleFailure.id, kind: "retry", place: "mail", operator: "olga" },
  ...{ reason: "asked ada@example.com", rate: 200, state: "running" },
  ...{ numJobs: 41, numLeftOut: 0, numSucceeded: 20, numFailedAgain: 3, numRemoved: 0 },
  ...{ numSkipped: 1, numWaiting: 2, createdAt: new Date(startedAt) },
  ...{ startedAt: new Date(startedAt + 1_000), endedAt: null },
} as FaultAction;

const path = `/operator/failures/${sampleFailure.id}`;
const reason = "provider is back";

/** Each change with its route and body. */
const changes: readonly (readonly [Action, string, object])[] = [
  ["failure:retry", `${path}/retry`, { reason, rate: 50 }],
  ["failure:remove", `${path}/remove`, { reason }],
  ["failure:cancel", `${path}/actions/7/cancel`, {}],
];

/** The routes with one action, which is `shown`, unless `refusal` is set. */
async function openActions() {
  const state = { shown: row, refusal: null as AppError | null };
  const audited: (AuditEntry & { operator: string })[] = [];
  const made: (NewAction | string)[] = [];
  const make = async (what: NewAction | string) => {
    if (state.refusal) throw state.refusal;
    made.push(what);
    return state.shown;
  };
  const part = await startOperatorPart<FailuresDeps>({
    routes: failureRoutes,
    deps: {
      failures: {
        list: () => assert.fail(),
        find: async () => sampleFailure,
        setState: async () => undefined,
        setNote: async () => undefined,
      },
      failureActions: {
        preview: async () => ({
          ...{ failure: sampleFailure, numJobs: 41, numLeftOut: 2 },
          oldestMs: startedAt - 60_000,
        }),
        start: (_id, action) => make(action),
        list: async () => [state.shown],
        find: async () => state.shown,
        cancel: () => make("cancel"),
      },
      audit: listAudits(audited),
    },
  });
  return { state, audited, made, url: part.url, stop: part.stop };
}

const headersOf = (role: OperatorRole | null) =>
  role === null ? {} : { authorization: `Bearer token-of-${role}` };

describe("the routes of actions on groups of failures", () => {
  let app: Awaited<ReturnType<typeof openActions>>;
  before(async () => {
    app = await openActions();
  });
  after(() => app.stop());
  beforeEach(() => {
    app.state.refusal = null;
    app.made.length = 0;
    app.audited.length = 0;
  });

  const post = (
    to: string,
    role: OperatorRole | null,
    body: object,
    headers: Record<string, string> = {},
  ) =>
    fetch(app.url + to, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json", ...headersOf(role), ...headers },
      body: JSON.stringify(body),
    });

  it("let each role make its changes only, and record them before", async () => {
    for (const [action, to, body] of changes) {
      for (const role of operatorRoles) {
        app.audited.length = 0;
        app.made.length = 0;
        const { status } = await post(to, role, body);
        assert.equal(status, mayMake(role, action) ? 202 : 403, `${role}: ${action}`);
        assert.deepEqual(
          app.audited.map((one) => [one.operator, one.action]),
          mayMake(role, action) ? [[`the ${role}`, action]] : [],
        );
        assert.equal(app.made.length, app.audited.length);
      }
      assert.equal((await post(to, null, body)).status, 401, action);
    }
  });

  it("let every role read, and nobody else", async () => {
    for (const to of [`${path}/preview?action=retry`, `${path}/actions/7`, path]) {
      for (const role of operatorRoles)
        assert.equal((await fetch(app.url + to, { headers: headersOf(role) })).status, 200, to);
      assert.equal((await fetch(app.url + to)).status, 401, to);
    }
  });

  it("refuse a change from a page of another site, whatever the role", async () => {
    for (const [action, to, body] of changes)
      for (const site of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }]) {
        const headers = { cookie: "operator=token-of-admin", ...site } as Record<string, string>;
        const answer = await post(to, null, body, headers);
        assert.equal(answer.status, 403, action);
        assert.match(await answer.text(), /request:origin_forbidden/);
      }
    assert.deepEqual([app.audited, app.made], [[], []]);
  });

  it("need a reason, and a rate within its bounds", async () => {
    for (const body of [{}, { reason: "  " }, { reason: "x".repeat(501) }])
      for (const verb of ["retry", "remove"])
        assert.equal((await post(`${path}/${verb}`, "operator", body)).status, 422);
    for (const rate of [0, maxRate + 1, 1.5])
      assert.equal((await post(`${path}/retry`, "operator", { reason, rate })).status, 422);
    assert.equal(app.made.length, 0);
    assert.equal((await post(`${path}/retry`, "operator", { reason, rate: maxRate })).status, 202);
    assert.equal((await post(`${path}/retry`, "operator", { reason })).status, 202);
    assert.deepEqual(
      app.made.map((one) => (typeof one === "string" ? null : one.rate)),
      [maxRate, usualRate],
    );
  });

  it("answer a second action on the group with a code", async () => {
    app.state.refusal = new AppError("failure:action_open");
    const answer = await post(`${path}/retry`, "operator", { reason });
    assert.equal(answer.status, 409);
    assert.match(await answer.text(), /failure:action_open/);
  });
});

describe("the pages of actions on groups of failures", () => {
  let app: Awaited<ReturnType<typeof openActions>>;
  before(async () => {
    app = await openActions();
  });
  after(() => app.stop());

  const open = async (to: string, role: OperatorRole) => {
    const headers = { ...headersOf(role), accept: "text/html" };
    const answer = await fetch(app.url + to, { headers });
    assert.equal(answer.status, 200);
    return answer.text();
  };

  it("show what would be taken, and the form to those who may send it", async () => {
    for (const kind of ["retry", "remove"] as const)
      for (const role of operatorRoles) {
        const text = await open(`${path}/preview?action=${kind}`, role);
        assert.match(text, /Jobs failed now<\/td>\s*<td>41/);
        assert.match(text, /not taken<\/td>\s*<td><strong class="wrong">2</);
        assert.match(text, /2026-03-01T11:59:00/);
        const may = mayMake(role, `failure:${kind}`);
        assert.equal(text.includes(`action="${path}/${kind}"`), may, `${role} ${kind}`);
        const group = await open(path, role);
        assert.equal(group.includes(`href="${path}/preview?action=${kind}"`), may);
      }
  });

  it("lead a browser from the form to the action", async () => {
    const answer = await fetch(`${app.url}${path}/retry`, {
      method: "POST",
      redirect: "manual",
      headers: { ...headersOf("operator"), accept: "text/html" },
      body: new URLSearchParams({ reason, rate: "25" }),
    });
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, `${path}/actions/7`]);
    const requestId = answer.headers.get("x-request-id");
    const made = { kind: "retry", rate: 25, reason, by: "the operator", requestId };
    assert.deepEqual(app.made, [made]);
  });

  it("show an action with its progress, and its end without a button", async () => {
    const running = await open(`${path}/actions/7`, "operator");
    assert.match(running, /Succeeded<\/td>\s*<td>20/);
    assert.match(running, /Not yet taken<\/td>\s*<td>15/);
    assert.match(running, /data-refresh-seconds/);
    assert.ok(running.includes(`action="${path}/actions/7/cancel"`));
    assert.doesNotMatch(running, /ada@/);
    assert.ok(!(await open(`${path}/actions/7`, "viewer")).includes("/cancel"));
    app.state.shown = { ...row, state: "stopped", endedAt: new Date(startedAt + 9_000) };
    const ended = await open(`${path}/actions/7`, "operator");
    assert.match(ended, /stopped: the first 10 failed again for the same cause/);
    assert.doesNotMatch(ended, /data-refresh-seconds|\/cancel/);
  });

  it("escape every text from elsewhere", async () => {
    const evil = `"><img src=x onerror=alert(1)>`;
    app.state.shown = { ...row, operator: evil, reason: evil, place: evil };
    for (const to of [path, `${path}/actions/7`]) {
      const text = await open(to, "operator");
      assert.ok(text.includes("&#60;img src=x onerror=alert(1)&#62;"), to);
      assert.doesNotMatch(text, /<img/, to);
    }
  });
});
