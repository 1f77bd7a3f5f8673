import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { createOrm } from "../../../../db/orm.ts";
import { createFaultStore } from "../../../../server/features/faults/domain/fault-store.ts";
import { failureRoutes, type FailuresDeps } from "../../../../server/operator/failures/routes.ts";
import { createFailureService } from "../../../../server/operator/failures/service.ts";
import type { AuditEntry } from "../../../../server/operator/audit.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { testDatabase } from "../../../support/stores.ts";
import { listAudits } from "../audits.ts";
import { answerOf, refusalIn } from "../call-route.ts";
import { noActions } from "./no-actions.ts";
import { failedJob, openFaults, startedAt } from "../../platform/faults/stored-faults.ts";

interface Shown {
  id: string;
  code: string;
  state: string;
  note: string | null;
  state_by: string | null;
  num_failed_jobs: number;
  num_last_hour: number;
}

const refused = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code;

describe("the failures that operators see", () => {
  let faults: Awaited<ReturnType<typeof openFaults>>;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let orm: MikroORM;
  let isAway = false;
  const audited: (AuditEntry & { operator: string })[] = [];

  before(async () => {
    [faults, database] = await Promise.all([openFaults(), testDatabase()]);
    orm = await createOrm(parseConfig({ DATABASE_URL: database.url }));
  });
  after(async () => {
    await orm.close(true);
    await faults.stop();
    await database.drop();
  });

  async function call<Body>(method: string, path: string, body?: object): Promise<Body> {
    const failures = createFailureService({
      store: createFaultStore(faults.redis, faults.clock),
      clock: faults.clock,
      open: async () => (isAway ? Promise.reject(new Error("away")) : orm),
    });
    const deps = {
      failures,
      failureActions: noActions,
      audit: listAudits(audited),
    };
    const sent = body === undefined ? { method } : { method, body };
    const answer = await answerOf<FailuresDeps, Body>(failureRoutes, deps, path, sent);
    if (answer.status >= 400) throw refusalIn(answer.text);
    return answer.body;
  }
  const list = async (query = "") =>
    (await call<{ failures: Shown[] }>("GET", `/operator/failures${query}`)).failures;
  const set = (id: string, body: object) =>
    call<{ failure: Shown }>("POST", `/operator/failures/${id}/state`, body);

  it("come with what is wrong now first", async () => {
    await faults.write(failedJob("a", -7_200, { code: "smtp.tls" }));
    await faults.write(failedJob("b", 0, { code: "smtp.refused" }), failedJob("c", 0));
    await faults.write(failedJob("d", 1, { code: "smtp.timeout" }));
    await faults.listFailed("mail", "b", "c");
    faults.clock.at = startedAt + 2_000;
    const shown = await list();
    assert.deepEqual(
      shown.map(({ code, state, num_failed_jobs: jobs }) => [code, state, jobs]),
      [
        ["smtp.refused", "open", 2],
        ["smtp.timeout", "open", 0],
        ["smtp.tls", "open", 0],
      ],
    );
  });

  it("are open again when one comes back after it was resolved", async () => {
    const [first] = await list();
    assert.ok(first);
    const { failure } = await set(first.id, { state: "resolved", reason: "server mended" });
    assert.deepEqual([failure.state, failure.state_by], ["resolved", "olga"]);
    assert.equal(audited.at(-1)?.action, "failure:resolved");
    assert.equal((await list()).at(-1)?.id, first.id);
    assert.deepEqual(
      (await list("?state=resolved")).map(({ id }) => id),
      [first.id],
    );
    faults.clock.at += 1_000;
    await faults.write(failedJob("e", 3));
    assert.equal((await list())[0]?.state, "open");
  });

  it("are ignored until a time, or until a number of further ones", async () => {
    const [first] = await list();
    assert.ok(first);
    const until = new Date(faults.clock.at + 60_000).toISOString();
    await set(first.id, { state: "ignored", until, reason: "known" });
    assert.equal((await list()).at(-1)?.state, "ignored");
    faults.clock.at += 60_000;
    assert.equal((await list())[0]?.state, "open");
    await set(first.id, { state: "ignored", more: 2, reason: "known" });
    await faults.write(failedJob("f", 70));
    assert.equal((await list()).at(-1)?.state, "ignored");
    await faults.write(failedJob("g", 71));
    assert.equal((await list())[0]?.state, "open");
  });

  it("are ignored for some hours", async () => {
    const [first] = await list();
    const path = `/operator/failures/${first?.id}/state`;
    const body = { state: "ignored", hours: 2, reason: "known" };
    const answer = await call<{ failure: { ignored_until: string } }>("POST", path, body);
    const until = Date.parse(answer.failure.ignored_until);
    assert.equal(until, Math.floor((faults.clock.at + 7_200_000) / 1_000) * 1_000);
    faults.clock.at += 7_200_000;
    assert.equal((await list())[0]?.state, "open");
    const both = { ...body, until: new Date(faults.clock.at).toISOString() };
    for (const wrong of [both, { ...body, state: "resolved" }])
      await assert.rejects(call("POST", path, wrong), refused("failure:state_invalid"));
  });

  it("keep a note beside their state", async () => {
    const [first] = await list();
    assert.ok(first);
    faults.clock.at += 20_000;
    const path = `/operator/failures/${first.id}/note`;
    await call("POST", path, { note: "<img onerror=alert(1)> ask the provider" });
    await set(first.id, { state: "resolved", reason: "done" });
    const { failure } = await call<{ failure: Shown }>("GET", `/operator/failures/${first.id}`);
    assert.deepEqual(
      [failure.state, failure.note],
      ["resolved", "<img onerror=alert(1)> ask the provider"],
    );
    const removed = await call<{ failure: Shown }>("POST", path, { note: " " });
    assert.equal(removed.failure.note, null);
  });

  it("are refused when unknown, or when a time is given for another state", async () => {
    await assert.rejects(
      call("GET", "/operator/failures/1-0000000000000000"),
      refused("failure:not_found"),
    );
    const [first] = await list();
    await assert.rejects(
      set(first?.id ?? "", { state: "open", more: 3, reason: "x" }),
      refused("failure:state_invalid"),
    );
  });

  it("have an unknown state while Postgres is away", async () => {
    isAway = true;
    const body = await call<{ failures: Shown[]; has_states: boolean }>(
      "GET",
      "/operator/failures",
    );
    isAway = false;
    assert.equal(body.has_states, false);
    assert.ok(body.failures.every(({ state }) => state === "unknown"));
  });

  it("are a clear refusal while Redis is away", async () => {
    await faults.server.kill();
    await assert.rejects(list(), refused("failure:store_unavailable"));
  });
});
