import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { insertQuestions } from "../../../db/queries/questions/questions.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { changeSubject, lockoutOf } from "../../../server/features/sessions/domain/lockout.ts";
import { operatorRoles, type OperatorRole } from "../../../server/http/auth/auth.ts";
import { boardChanges } from "../../../server/operator/board/changes.ts";
import { boardPath } from "../../../server/operator/board/paths.ts";
import { actions, mayMake, type Action } from "../../../server/operator/roles.ts";
import { groupOccurrences } from "../../../server/platform/faults/batch.ts";
import { createFaultStore } from "../../../server/features/faults/domain/fault-store.ts";
import { registerAccount } from "../../support/identity.ts";
import { member } from "../../support/review.ts";
import { failedJob, instance } from "../platform/faults/stored-faults.ts";
import { startWholeOperator, tokenOf, type WholeOperator } from "./whole-operator.ts";

const reason = "a test of roles, ä";
const withReason = `operator_reason=${encodeURIComponent(reason)}`;
const callers = [null, ...operatorRoles] as const;
const otherSites: readonly Record<string, string>[] = [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { origin: "https://evil.example" },
];

/** Where a change is made: its address and body, and the page that has its button. */
interface Place {
  path: string;
  body?: Record<string, string>;
  page: string;
}

const http = (index: number) => ({
  ...{ role: "http", index, pid: 100 + index, isReady: true, restarts: 0 },
  isDraining: false,
  ...{ startedAt: 1, nodeId: null, instance: null },
});

let whole: WholeOperator;
/** A change without an address of its own is made on the queue board. */
let places: Record<Action, Place | null>;
const cookies = new Map<OperatorRole, string>();

const audits = () =>
  rowsOf(
    whole.app.deps.em,
    sql<{ operator: string; action: string; outcome: string }>`
      select operator, action, outcome from audit_log order by id`,
  );
const makingAll = Object.keys(actions) as Action[];
const cookieOf = (role: OperatorRole) => cookies.get(role) ?? assert.fail(role);
/** Reads the whole response, or else the listener would wait for it at its end. */
async function answered(url: string, request: RequestInit) {
  const response = await fetch(url, request);
  return { status: response.status, text: await response.text() };
}
/** As a program: with a token and JSON. */
const call = ({ path, body = {} }: Place, role: OperatorRole | null) =>
  answered(whole.url + path, {
    ...{ method: "POST", redirect: "manual", body: JSON.stringify(body) },
    headers: {
      "content-type": "application/json",
      ...(role === null ? {} : { authorization: `Bearer ${tokenOf(role)}` }),
    },
  });
/** As the button of a page: with a cookie and a form. */
const press = (
  { path, body = {} }: Place,
  role: OperatorRole | null,
  headers: Record<string, string> = {},
) =>
  answered(whole.url + path, {
    ...{ method: "POST", redirect: "manual", body: new URLSearchParams(body) },
    headers: {
      ...{ accept: "text/html", "sec-fetch-site": "same-origin" },
      ...(role === null ? {} : { cookie: cookieOf(role) }),
      ...headers,
    },
  });
const open = (page: string, role: OperatorRole | null) =>
  answered(whole.url + page, {
    redirect: "manual",
    headers: { accept: "text/html", ...(role === null ? {} : { cookie: cookieOf(role) }) },
  });
const boardCall = (key: string, headers: Record<string, string>) => {
  const [method = "", path = ""] = key.split(" ");
  // Queues and jobs that do not exist, so that an admitted call changes nothing.
  const address = boardPath + path.replace(/:\w+/g, "nothing");
  const sent = { method: method.toUpperCase(), body: "{}", redirect: "manual" } as const;
  return answered(whole.url + address, { ...sent, headers });
};
const boardCallsOf = (action: Action) =>
  Object.keys(boardChanges).filter((key) => boardChanges[key] === action);
const codeIn = (text: string) => /"code":"([a-z_]+:[a-z_]+)"/.exec(text)?.[1] ?? text;

/** Whether a page has the button: a form, or a button of a form, that leads there with these values. */
function hasButton(text: string, { path, body = {} }: Place): boolean {
  const address = path.replaceAll("&", "&#38;");
  const { state } = body;
  const isThere = text.includes(`action="${address}"`);
  return isThere && (state === undefined || text.includes(`name="state" value="${state}"`));
}

describe("every change of an operator, by role", () => {
  before(async () => {
    whole = await startWholeOperator({
      processes: [http(0), http(1)],
      drain: "draining",
    });
    for (const role of operatorRoles) cookies.set(role, await whole.signIn(role));
    places = await preparePlaces(whole);
  });
  after(() => whole.stop());

  it("has a place where it is made: a page with its endpoint, or a call of the queue board", () => {
    assert.deepEqual(Object.keys(places).toSorted(), makingAll.toSorted());
    for (const action of makingAll)
      assert.ok(places[action] ?? boardCallsOf(action).length > 0, `${action} cannot be made`);
  });

  for (const action of makingAll) {
    const allowed = operatorRoles.filter((role) => mayMake(role, action));
    const [least = "admin"] = allowed;
    const refused = callers.filter((role) => role === null || !allowed.includes(role));

    it(`${action}: pages show its button to ${allowed.join(" and ")} only`, async () => {
      const place = places[action];
      if (place === null) return assertBoardButtons(action, allowed);
      for (const role of operatorRoles) {
        const page = await open(place.page, role);
        assert.equal(page.status, 200, `${place.page} for ${role}`);
        assert.equal(hasButton(page.text, place), allowed.includes(role), role);
      }
      assert.equal((await open(place.page, null)).status, 303);
    });

    it(`${action}: is refused to all others and from other sites, and leaves nothing`, async () => {
      const earlier = await audits();
      const place = places[action];
      for (const role of refused) {
        const [status, code] = role === null ? [401, "auth:required"] : [403, "auth:forbidden"];
        for (const answer of place === null ? [] : [await call(place, role)]) {
          assert.equal(answer.status, status, `${role} by the API`);
          assert.equal(codeIn(answer.text), code);
        }
        if (place !== null) assert.equal((await press(place, role)).status, status, `${role}`);
        for (const key of boardCallsOf(action)) {
          const token = role === null ? {} : { authorization: `Bearer ${tokenOf(role)}` };
          const answer = await boardCall(key, { ...token, cookie: withReason });
          assert.equal(answer.status, status, `${role}: ${key}`);
          assert.equal(codeIn(answer.text), code);
        }
      }
      for (const site of otherSites) {
        if (place !== null) {
          const answer = await press(place, "admin", { "sec-fetch-site": "", ...site });
          assert.equal(answer.status, 403, JSON.stringify(site));
          assert.match(answer.text, /request:origin_forbidden/);
        }
        for (const key of boardCallsOf(action)) {
          const answer = await boardCall(key, {
            ...site,
            cookie: `${cookieOf("admin")}; ${withReason}`,
          });
          assert.equal(answer.status, 403, `${JSON.stringify(site)}: ${key}`);
          assert.match(answer.text, /request:origin_forbidden/);
        }
      }
      assert.deepEqual(await audits(), earlier);
      assert.ok(!whole.asked.includes("drain") || action !== "worker:drain", "nothing was drained");
    });

    it(`${action}: is made by ${least} after all that, once, and recorded`, async () => {
      const place = places[action];
      if (place !== null) {
        const earlier = (await audits()).length;
        const answer = await call(place, least);
        assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
        assert.deepEqual((await audits()).slice(earlier), [
          { operator: `the ${least}`, action, outcome: "done" },
        ]);
        // What it changed may not be there any more, but the role is no reason.
        for (const role of allowed.slice(1))
          assert.ok(![401, 403].includes((await call(place, role)).status), role);
      }
      for (const key of boardCallsOf(action))
        for (const role of allowed) {
          const earlier = (await audits()).length;
          const authorization = `Bearer ${tokenOf(role)}`;
          const answer = await boardCall(key, { authorization, cookie: withReason });
          assert.ok(![401, 403].includes(answer.status), `${role}: ${key} is ${answer.status}`);
          const made = (await audits()).slice(earlier);
          assert.deepEqual(
            made.map((one) => [one.operator, one.action]),
            [[`the ${role}`, action]],
            key,
          );
        }
    });
  }
});

/** The board has no buttons unless an admin has stated a reason, whose form is for them only. */
async function assertBoardButtons(action: Action, allowed: readonly OperatorRole[]) {
  for (const role of operatorRoles) {
    const form = await open(`${boardPath}/reason`, role);
    assert.equal(form.status === 200, allowed.includes(role), `${action}: ${role}`);
    const headers = { cookie: `${cookieOf(role)}; ${withReason}` };
    const shown = await fetch(`${whole.url}${boardPath}/api/queues`, { headers });
    const { queues } = (await shown.json()) as { queues: { readOnlyMode: boolean }[] };
    assert.ok(queues.length > 0);
    assert.ok(queues.every(({ readOnlyMode }) => readOnlyMode !== allowed.includes(role)));
  }
}

/** Everything that a change needs, so that its button is shown and it can be made. */
async function preparePlaces(whole: WholeOperator): Promise<Record<Action, Place | null>> {
  const { app, deps } = whole;
  const { em, redis } = app.deps;
  const jobs = (...names: string[]) => Object.fromEntries(names.map((name) => [name, {}]));
  await whole.failJobs("maintenance", jobs("retried", "removed", "left"), new Error("no"));
  await whole.failJobs("mail", jobs("grouped-1", "grouped-2", "grouped-3"), new Error("no"));
  await whole.queueOf("codex-import").pause();
  const groupOf = async (code: `${string}.${string}`, job: string) => {
    const failed = { ...failedJob(job, 0, { code }), atMs: Date.now() };
    const groups = groupOccurrences([failed], instance);
    const batch = { instance: code, seq: 1, numDropped: 0, groups };
    await createFaultStore(redis, app.deps.clock).write(batch);
    return groups[0]?.id ?? assert.fail(code);
  };
  const retried = await groupOf("test.retried", "grouped-1");
  const removed = await groupOf("test.removed", "grouped-2");
  const cancelled = await groupOf("test.cancelled", "grouped-3");
  const by = { by: "olga", requestId: "request-1" };
  const given = { ...by, kind: "retry", rate: 1, reason } as const;
  const { id: actionId } = await deps.failureActions.start(cancelled, given);
  const [resolved, ignored, open] = [
    await groupOf("test.resolved", "x"),
    await groupOf("test.ignored", "y"),
    await groupOf("test.open", "z"),
  ];
  await deps.failures.setState(open, { state: "resolved", by: "olga" });
  const players = [];
  for (let n = 0; n < 3; n++) players.push((await registerAccount(app)).session.player.id);
  const [locked = 0, closed = 0, signedIn = 0] = players;
  const lockout = lockoutOf(app.deps);
  for (let n = 0; n < app.deps.config.LOCKOUT_THRESHOLD; n++)
    await lockout.fail(changeSubject(locked), locked);
  await rowsOf(em, sql`update players set deleted_at = now() where id = ${closed}`);
  const uploads = [];
  for (let n = 0; n < 3; n++) uploads.push((await (await member(app)).send()).id);
  const [approved = 0, rejected = 0, undone = 0] = uploads;
  const decider = { operator: "olga", reason };
  await deps.avatars.decide(undone, { verb: "approve" }, decider);
  const questions = await prepareQuestions(whole);
  const failure = (id: string) => `/operator/failures/${id}`;
  const state = (id: string, wanted: string): Place => ({
    path: `${failure(id)}/state`,
    body: { state: wanted, reason },
    page: failure(id),
  });
  const group = (id: string, action: string): Place => ({
    path: `${failure(id)}/${action}`,
    body: { reason },
    page: `${failure(id)}/preview?action=${action}`,
  });
  const one = (page: string, verb: string): Place => ({
    path: `${page}/${verb}`,
    body: { reason },
    page,
  });
  const upload = (id: number, verb: string, status = "queued"): Place => ({
    path: `/operator/avatar-uploads/${id}/${verb}`,
    body: { reason },
    page: `/operator/avatar-uploads?status=${status}`,
  });
  const queues = "/operator/queues";
  return {
    "job:retry": one("/operator/jobs/maintenance/retried", "retry"),
    "job:remove": one("/operator/jobs/maintenance/removed", "remove"),
    "queue:pause": { path: `${queues}/mail/pause`, page: queues },
    "queue:resume": { path: `${queues}/codex-import/resume`, page: queues },
    "queue:retry-failed": { path: `${queues}/maintenance/retry-failed`, page: queues },
    "worker:drain": {
      path: "/operator/workers/1/drain",
      page: "/operator/workers",
      body: { service: "here" },
    },
    "failure:note": { ...one(failure(open), "note"), body: { note: "seen" } },
    "failure:ignored": state(ignored, "ignored"),
    "failure:open": state(open, "open"),
    "failure:resolved": state(resolved, "resolved"),
    "failure:retry": group(retried, "retry"),
    "failure:remove": group(removed, "remove"),
    "failure:cancel": one(`${failure(cancelled)}/actions/${actionId}`, "cancel"),
    "avatar:approve": upload(approved, "approve"),
    "avatar:undo": upload(undone, "undo", "approved"),
    "avatar:reject": upload(rejected, "reject"),
    "account:unlock": one(`/operator/players/${locked}`, "unlock"),
    "account:restore": one(`/operator/players/${closed}`, "restore"),
    "account:sign-out": one(`/operator/players/${signedIn}`, "revoke-sessions"),
    "question:retire": one(`/operator/questions/${questions[0]}`, "retire"),
    "question:restore": one(`/operator/questions/${questions[1]}`, "restore"),
    "question:dismiss-reports": one(`/operator/questions/${questions[2]}`, "dismiss-reports"),
    "maintenance:on": {
      path: "/operator/maintenance/on",
      body: { reason },
      page: "/operator/maintenance",
    },
    "maintenance:off": {
      path: "/operator/maintenance/off",
      body: { reason },
      page: "/operator/maintenance",
    },
    "job:add": null,
    "job:edit": null,
    "queue:empty": null,
    "queue:clean": null,
    "queue:obliterate": null,
    "queue:concurrency": null,
    "scheduler:change": null,
  };
}

/** Ids of an open question, a retired one and a reported one. */
async function prepareQuestions({ app, deps }: WholeOperator): Promise<number[]> {
  const list = ["a", "b", "c"].map((name) => ({
    ...{ category: "art", difficulty: "easy", question: `Is it ${name}?`, correctIndex: 1 },
    ...{ choices: ["a", "b", "c", "d"], explanation: "It is.", estimatedRate: 50 },
    ...{ textKey: `is it ${name}`, source: "test" },
  }));
  await insertQuestions(app.deps.em, list, { pool: "both", promptHash: null });
  const rows = await rowsOf(app.deps.em, sql<{ id: number }>`select id from questions order by id`);
  const ids = rows.map(({ id }) => id);
  await deps.questions.change(ids[1] ?? 0, "retire", {
    ...{ operator: "olga", reason, requestId: "request-1" },
  });
  const { session } = await registerAccount(app);
  const sent = { token: session.access_token, body: { reason: "wrong_answer" } };
  const answer = await app.client.post(`/v1/games/trivia/questions/${ids[2]}/report`, sent);
  assert.ok(answer.status < 300, answer.text);
  return ids;
}
