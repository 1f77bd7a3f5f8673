import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { operatorRoles, type OperatorRole } from "../../../server/http/auth/auth.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import type { AuditEntry, WithAudit } from "../../../server/operator/audit.ts";
import { createBoard } from "../../../server/operator/board/board.ts";
import { boardChanges } from "../../../server/operator/board/changes.ts";
import { boardPath } from "../../../server/operator/board/paths.ts";
import { boardRoutes } from "../../../server/operator/board/routes.ts";
import { actions } from "../../../server/operator/roles.ts";
import { createQueues, type Queues } from "../../../workers/producer.ts";
import { startOperatorPart } from "../../support/operator.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { listAudits } from "./audits.ts";

const reason = "a test of roles, ä";
const withReason = { cookie: `operator_reason=${encodeURIComponent(reason)}` };

/** Nobody has worked. */
const times = { series: () => Promise.reject(new Error("no times")) };

/** Every call of the interface of the installed version, as `put /api/queues/pause`. */
const api = createBoard([], times, false).api.flatMap(({ method, route }) =>
  [method].flat().flatMap((verb) => [route].flat().map((path) => `${verb} ${path}`)),
);
const changes = api.filter((call) => !call.startsWith("get "));

describe("the queue board", () => {
  let stores: TestStores;
  let queues: Queues;
  let part: Awaited<ReturnType<typeof startOperatorPart>>;
  const audited: (AuditEntry & { operator: string })[] = [];
  const outcomes: string[] = [];

  before(async () => {
    stores = await testStores();
    queues = createQueues(stores.redisUrl, silentLogger);
    part = await startOperatorPart<WithAudit>({
      routes: boardRoutes(queues.all(), times),
      deps: { audit: listAudits(audited, outcomes) },
    });
  });
  after(async () => {
    await part.stop();
    await queues.close();
    await stores.stop();
  });

  /** Calls with queues and jobs that do not exist, so that an admitted call changes nothing. */
  const send = (call: string, role: OperatorRole | null, headers: Record<string, string> = {}) => {
    const [method = "", path = ""] = call.split(" ");
    const address = path.replace(/:\w+/g, "nothing");
    return fetch(`${part.url}${boardPath}${address}`, {
      method: method.toUpperCase(),
      redirect: "manual",
      headers: {
        ...(role === null ? {} : { authorization: `Bearer token-of-${role}` }),
        ...headers,
      },
      ...(method === "get" ? {} : { body: "{}" }),
    });
  };

  it("has a role for every change of the installed version, and for no other", () => {
    assert.deepEqual(changes.toSorted(), Object.keys(boardChanges).toSorted());
  });

  it("records the refusals of the package as such", async () => {
    outcomes.length = 0;
    const pause = (queue: string) =>
      fetch(`${part.url}${boardPath}/api/queues/${queue}/pause`, {
        method: "PUT",
        headers: { authorization: "Bearer token-of-admin" },
      });
    assert.equal((await pause("nothing")).status, 404);
    assert.equal((await pause("mail")).status, 200);
    assert.deepEqual(outcomes, ["refused", "done"]);
    for (const queue of queues.all()) await queue.resume();
  });

  it("makes the changes of admins with a reason only", async () => {
    for (const call of changes.filter(
      (one) => actions[boardChanges[one] ?? "job:add"].needsReason,
    )) {
      audited.length = 0;
      const answer = await send(call, "admin");
      assert.equal(answer.status, 409, call);
      assert.match(await answer.text(), /board:reason_missing/);
      assert.deepEqual(audited, []);
    }
  });

  it("is read by every role, and by nobody else", async () => {
    for (const call of api.filter((one) => one.startsWith("get "))) {
      for (const role of operatorRoles)
        assert.ok(![401, 403].includes((await send(call, role)).status), `${role}: ${call}`);
      assert.equal((await send(call, null)).status, 401, call);
    }
  });

  it("shows buttons to an admin who has stated a reason, and to nobody else", async () => {
    const isReadOnly = async (role: OperatorRole, headers = {}) => {
      const answer = await send("get /api/queues", role, headers);
      const { queues: shown } = (await answer.json()) as { queues: { readOnlyMode: boolean }[] };
      assert.ok(shown.length > 0);
      return shown.every(({ readOnlyMode }) => readOnlyMode);
    };
    for (const role of operatorRoles) assert.equal(await isReadOnly(role), true, role);
    assert.equal(await isReadOnly("operator", withReason), true);
    assert.equal(await isReadOnly("admin", withReason), false);
  });

  it("takes the reason by a form of admins, and keeps it for its own paths", async () => {
    const state = (role: OperatorRole, text: string) =>
      fetch(`${part.url}${boardPath}/reason`, {
        method: "POST",
        redirect: "manual",
        headers: { authorization: `Bearer token-of-${role}` },
        body: new URLSearchParams({ reason: text }),
      });
    assert.equal((await state("operator", reason)).status, 403);
    assert.equal((await state("admin", "  ")).status, 409);
    const answer = await state("admin", reason);
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, boardPath]);
    const cookie = answer.headers.get("set-cookie") ?? "";
    assert.ok(cookie.startsWith(withReason.cookie), cookie);
    assert.match(
      cookie,
      /; Path=\/operator\/queues\/board; HttpOnly; SameSite=Strict; Max-Age=900$/,
    );
  });

  it("allows inline styles, which no other page needs", async () => {
    const policyOf = async (path: string) =>
      (
        await fetch(part.url + path, { headers: { authorization: "Bearer token-of-viewer" } })
      ).headers.get("content-security-policy");
    assert.match((await policyOf(boardPath)) ?? "", /style-src 'self' 'unsafe-inline'/);
    assert.doesNotMatch((await policyOf("/operator/nowhere")) ?? "unsafe", /unsafe/);
  });

  it("serves files of its package by name only", async () => {
    const statusOf = async (path: string) => (await send(`get /static/${path}`, "viewer")).status;
    assert.equal(await statusOf("images/logo.svg"), 200);
    for (const path of ["../index.ejs", "..%2findex.ejs", "%2e%2e/index.ejs", "js/nothing.js"])
      assert.equal(await statusOf(path), 404, path);
  });
});
