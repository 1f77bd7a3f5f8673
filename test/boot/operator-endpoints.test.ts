import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { createOrm } from "../../db/orm.ts";
import { AuditLogSchema } from "../../db/entities/audit-log.ts";
import { insertOperator } from "../../db/queries/operator/operators.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { roomKinds } from "../../server/app/rooms.ts";
import { documentedRoutes } from "../../server/operator/routes.ts";
import { hashToken } from "../../server/operator/session/identity.ts";
import { operatorRoles } from "../../server/http/auth/auth.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { checkResponse, createRouteChecks } from "../support/response-check.ts";
import { createLobby, newPlayer } from "../support/player.ts";
import { sharedService, type Service } from "../support/process.ts";

interface Answer {
  status: number;
  body: Record<string, unknown>;
  pagination: Record<string, unknown> | undefined;
  code: string | undefined;
}

let service: Service;
let orm: MikroORM;
let queues: Queues;
const checks = createRouteChecks(documentedRoutes);
const tokenOf = (role: string) => `test-token-of-${role}-0123456789`;

/** Every response is validated against the declaration of its route. */
async function call(
  method: string,
  path: string,
  { role = "operator", body }: { role?: string | null; body?: object } = {},
): Promise<Answer> {
  const response = await fetch(`${service.operatorUrl}${path}`, {
    method,
    headers: {
      ...(role === null ? {} : { Authorization: `Bearer ${tokenOf(role)}` }),
      ...(body ? { "Content-Type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = Buffer.from(bytes).toString("utf8");
  const isJson = response.headers.get("content-type") === "application/json";
  const json: unknown = isJson ? JSON.parse(text) : undefined;
  const { status, headers } = response;
  const [plain = ""] = path.split("?");
  checkResponse(checks, method, plain, { status, headers, json, text, bytes });
  const envelope = json as {
    body?: Record<string, unknown>;
    pagination?: Record<string, unknown>;
    flash?: { errors: { code: string }[] };
  };
  const { body: found = {}, pagination, flash } = envelope;
  return { status, body: found, pagination, code: flash?.errors[0]?.code };
}

const get = (path: string, role = "viewer") => call("GET", path, { role });

const post = (path: string, body?: object, role = "operator") =>
  call("POST", path, { role, ...(body ? { body } : {}) });

/** Of the operators of this file; others use the same service. */
const auditOf = async (action: string) => {
  const wanted = { action, operator: { $like: "test %" } };
  const rows = await orm.em.fork().find(AuditLogSchema, wanted, { orderBy: { id: 1 } });
  return rows.map(({ operator, target, reason }) => [operator, target, reason]);
};

const jobs = "/operator/queues/maintenance/jobs";

const jobPath = (id: string, verb = "") =>
  `/operator/jobs/maintenance/${encodeURIComponent(id)}${verb}`;

const maintenance = () => {
  const queue = queues.all().find(({ name }) => name === "maintenance");
  assert.ok(queue);
  return queue;
};

const failedIds = async () =>
  ((await get(`${jobs}?state=failed`)).body["jobs"] as { id: string }[]).map(({ id }) => id);

const until = async (isSo: () => Promise<boolean>) => {
  const deadline = performance.now() + 60_000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, "the expected state was not reached");
    await new Promise((done) => setTimeout(done, 50));
  }
};

/** A response with the reports of all processes; on a busy machine one that answers late is missing. */
async function whole<T>(path: string, isWhole = (_: T) => true): Promise<T> {
  let answer = await get(path);
  await until(async () => {
    if (answer.status === 200 && isWhole(answer.body as T)) return true;
    answer = await get(path);
    return false;
  });
  return answer.body as T;
}

describe("the operator endpoints", () => {
  before(async () => {
    service = await sharedService();
    orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
    queues = createQueues(service.redisUrl, silentLogger);
    for (const role of operatorRoles) {
      const operator = { name: `test ${role}`, role, tokenHash: hashToken(tokenOf(role)) };
      await insertOperator(orm.em.fork(), operator);
    }
  });
  after(async () => {
    await queues.close();
    await orm.close(true);
  });

  describe("for reading jobs", () => {
    it("are not on the public port, and refuse strangers and viewers without the required role", async () => {
      for (const { method, path, auth, rare } of documentedRoutes) {
        // Probes are on both listeners.
        if (rare?.isProbe) continue;
        const address = path.replace("{queue}", "mail").replace("{id}", "1");
        const outside = await fetch(`${service.url}${address}`, { method });
        assert.equal(outside.status, 404, path);
        if (auth === "open" || auth === "local") continue;
        assert.equal((await call(method, address, { role: null })).code, "auth:required", path);
        if (auth === "viewer") continue;
        assert.equal(
          (await call(method, address, { role: "viewer" })).code,
          "auth:forbidden",
          path,
        );
      }
    });

    it("list processes, lobby owners, queues and reconciliation runs for a viewer", async () => {
      assert.equal(((await get("/operator/workers")).body["workers"] as object[]).length, 3);
      const host = await newPlayer(service.url, "Ada");
      const code = await createLobby(host, { category: "science", visibility: "private" });
      interface Held {
        owners: { incarnation: string }[];
        lobbies: Record<string, unknown>[];
      }
      const { owners, lobbies } = await whole<Held>("/operator/lobbies", (body) =>
        body.lobbies.some((lobby) => lobby["code"] === code),
      );
      assert.equal(owners.length, 1);
      // Other tests have lobbies in the same service.
      const held = lobbies.find((lobby) => lobby["code"] === code);
      assert.deepEqual(
        [held?.["code"], held?.["status"], held?.["visibility"], held?.["num_players"]],
        [code, "waiting", "private", 1],
      );
      assert.equal(held?.["owner"], owners[0]?.incarnation);
      const listed = (await get("/operator/queues")).body["queues"] as { name: string }[];
      assert.ok(listed.some(({ name }) => name === "mail"));
      for (const path of ["/operator/outbox", "/operator/wallets", "/operator/imports"])
        assert.equal((await get(path)).status, 200, path);
      await until(async () => (await get("/health")).status === 200);
    });

    it("drain no worker that does not exist, and not the only one", async () => {
      assert.equal((await post("/operator/workers/9/drain")).code, "worker:not_found");
      assert.equal((await post("/operator/workers/x/drain")).code, "worker:not_found");
      assert.equal((await post("/operator/workers/0/drain")).code, "worker:last");
      const reasons = await auditOf("worker:drain");
      assert.deepEqual(reasons, [["test operator", "http 0", ""]]);
    });

    it("list failed jobs in pages, without personal data", async () => {
      // Jobs with invalid payloads fail immediately and permanently.
      for (const n of [1, 2, 3])
        await maintenance().add(
          "maintenance",
          { task: n, email: "ada@example.com" },
          { jobId: `ill-${n}` },
        );
      await until(async () => (await failedIds()).length === 3);
      const first = await get(`${jobs}?limit=2`);
      assert.deepEqual(first.pagination, { page: 1, limit: 2, total: 3, has_more: true });
      const second = await get(`${jobs}?state=failed&limit=2&page=2`);
      assert.deepEqual(second.pagination, { page: 2, limit: 2, total: 3, has_more: false });
      assert.equal((second.body["jobs"] as object[]).length, 1);
      assert.equal((await get(`${jobs}?limit=100000`)).pagination?.["limit"], 100);
      const { job } = (await get(jobPath("ill-2"))).body as {
        job: { data: object; state: string; attempts: string[]; failure_id: string | null };
      };
      assert.deepEqual([job.data, job.state], [{ task: 2, email: "***" }, "failed"]);
      const { attempts, failure_id } = job;
      assert.match(
        attempts.join(),
        /^\S+ attempt 1 on jobs-0@\w+, \d+ ms: the payload does not fit/,
      );
      // The group is written once a second.
      const grouped = (body: { job: { failure_id: string | null } }) =>
        body.job.failure_id !== null;
      if (failure_id === null) await whole(jobPath("ill-2"), grouped);
    });

    it("say how long the jobs of a queue waited and ran, also as metrics and on the board", async () => {
      interface Times {
        total: { num_completed: number; wait_ms: object | null; run_ms: object | null };
        periods: object[];
      }
      const hasRun = ({ total }: Times) => total.num_completed > 0;
      // The schedules run at the start.
      const hour = await whole<Times>("/operator/queues/maintenance", hasRun);
      assert.equal(hour.periods.length, 60);
      assert.ok(hour.total.run_ms !== null && hour.total.wait_ms !== null);
      const spans = [
        ["day", 96],
        ["month", 30],
      ] as const;
      for (const [span, number] of spans) {
        const { body } = await get(`/operator/queues/maintenance?span=${span}`);
        assert.equal((body as unknown as Times).periods.length, number);
        assert.ok(hasRun(body as unknown as Times), span);
      }
      assert.equal((await get("/operator/queues/none")).code, "queue:not_found");
      const text = await (await fetch(`${service.operatorUrl}/metrics`)).text();
      for (const name of ["emberline_job_wait_duration_seconds", "emberline_job_duration_seconds"])
        assert.match(text, new RegExp(`${name}_count\\{queue="maintenance",role="job"\\} [1-9]`));
      const headers = { Authorization: `Bearer ${tokenOf("viewer")}` };
      const asked = `from=${Date.now() - 86_400_000}&to=${Date.now()}&granularity=hour`;
      const history = `${service.operatorUrl}/operator/queues/board/api/metrics/history?${asked}`;
      const { completed } = (await (await fetch(history, { headers })).json()) as {
        completed: { value: number }[];
      };
      assert.ok(completed.some(({ value }) => value > 0));
    });

    it("show no more of a failed job on the queue board than in the list", async () => {
      const job = await maintenance().add("maintenance", { task: 9 }, { jobId: "ill-told" });
      await until(async () => (await failedIds()).includes("ill-told"));
      await job.log("wrote to ada@example.com");
      // An error message as a library might produce it.
      const redis = connectRedis(service.redisUrl, silentLogger, "test");
      await redisReady(redis);
      const reason = "no mailbox ada@example.com, code 123456";
      const key = maintenance().toKey("ill-told");
      await redis.hset(key, {
        failedReason: reason,
        stacktrace: JSON.stringify([`Error: ${reason}`]),
      });
      redis.disconnect();
      const board = `${service.operatorUrl}/operator/queues/board/api/queues`;
      const headers = { Authorization: `Bearer ${tokenOf("viewer")}` };
      for (const path of ["?activeQueue=maintenance&status=failed", "/maintenance/ill-told"]) {
        const text = await (await fetch(board + path, { headers })).text();
        assert.match(text, /no mailbox \*\*\*@\*\*\*, code \*\*\*/, path);
        assert.doesNotMatch(text, /ada@|123456/, path);
      }
      const log = await (await fetch(`${board}/maintenance/ill-told/logs`, { headers })).text();
      assert.match(log, /wrote to \*\*\*@\*\*\*/);
      assert.match(log, /attempt 1 on jobs-0@[a-z0-9]{12}, /);
      await job.remove();
    });

    it("refuse unknown queues, jobs and states", async () => {
      assert.equal((await get("/operator/queues/nothing/jobs")).code, "queue:not_found");
      assert.equal((await get("/operator/jobs/nothing/1")).code, "queue:not_found");
      assert.equal((await get(jobPath("nothing"))).code, "job:not_found");
      assert.equal((await get(`${jobs}?state=lost`)).code, "request:invalid_query");
      assert.equal((await post("/operator/queues/nothing/pause")).code, "queue:not_found");
      assert.equal((await post("/operator/queues/nothing/retry-failed")).code, "queue:not_found");
      for (const verb of ["/retry", "/remove"])
        assert.equal((await post(jobPath("nothing", verb))).code, "job:not_found");
      const long = { reason: "x".repeat(501) };
      assert.equal((await post("/operator/queues/mail/pause", long)).code, "validation:failed");
    });
  });
  describe("for changing jobs", () => {
    it("accept no internal key of the job library as a job id, and neither does the queue board", async () => {
      const headers = { Authorization: `Bearer ${tokenOf("operator")}` };
      const board = `${service.operatorUrl}/operator/queues/board/api/queues/maintenance`;
      await post("/operator/queues/maintenance/pause");
      for (const id of ["meta", "id", "delayed", "events", "repeat", "repeat:maintenance-boards"]) {
        assert.equal((await get(jobPath(id))).code, "job:not_found", id);
        assert.equal((await post(jobPath(id, "/remove"))).code, "job:not_found", id);
        const url = `${board}/${encodeURIComponent(id)}/clean`;
        assert.equal((await fetch(url, { method: "PUT", headers })).status, 404, id);
      }
      assert.equal(await maintenance().isPaused(), true);
      await post("/operator/queues/maintenance/resume");
    });

    it("pause a queue, retry and remove single jobs, and resume the queue", async () => {
      const paused = await post("/operator/queues/maintenance/pause", { reason: "a look" });
      assert.equal((paused.body["queue"] as { is_paused: boolean }).is_paused, true);
      const retried = await post(jobPath("ill-1", "/retry"));
      assert.equal((retried.body["job"] as { state: string }).state, "waiting");
      assert.equal((await post(jobPath("ill-1", "/retry"))).code, "job:not_failed");
      assert.equal((await post(jobPath("ill-1", "/remove"), { reason: "ill" })).status, 200);
      assert.equal((await get(jobPath("ill-1"))).code, "job:not_found");
      const [next] = (await get(`${jobs}?state=delayed`)).body["jobs"] as { id: string }[];
      assert.ok(next);
      assert.equal((await post(jobPath(next.id, "/remove"))).code, "job:not_removable");
      const resumed = await post("/operator/queues/maintenance/resume", undefined, "admin");
      assert.equal((resumed.body["queue"] as { is_paused: boolean }).is_paused, false);
    });

    it("retry every failed job of a queue at once", async () => {
      const before = await maintenance().getJob("ill-2");
      const answer = await post("/operator/queues/maintenance/retry-failed", { reason: "mended" });
      assert.equal(answer.body["num_retried"], 2);
      await until(async () => {
        const now = await maintenance().getJob("ill-2");
        return (now?.finishedOn ?? 0) > (before?.finishedOn ?? 0);
      });
    });

    it("record who changed what and why, but no refused change of a viewer", async () => {
      const queue = "maintenance";
      assert.deepEqual((await auditOf("queue:pause")).at(-1), ["test operator", queue, "a look"]);
      assert.deepEqual((await auditOf("queue:resume")).at(-1), ["test admin", queue, ""]);
      assert.deepEqual(await auditOf("queue:retry-failed"), [["test operator", queue, "mended"]]);
      const removed = await auditOf("job:remove");
      const byApi = removed.filter(([, target]) => !target?.startsWith("board "));
      assert.deepEqual(byApi[0], ["test operator", `${queue} ill-1`, "ill"]);
      assert.ok(removed.some(([, target]) => target === `board queues/${queue}/meta/clean`));
    });
  });
  describe("for rooms", () => {
    it("list the kinds of room and the rooms of a kind, and show one of them", async () => {
      const host = await newPlayer(service.url, "Ada");
      const code = await createLobby(host, { category: "science", visibility: "private" });
      const { kinds } = await whole<{ kinds: Record<string, unknown>[] }>("/operator/rooms");
      assert.deepEqual(
        kinds.map(({ kind, num_owners, num_shards }) => [kind, num_owners, num_shards]),
        Object.values(roomKinds).map(({ kind }) => [kind, 1, 1024]),
      );
      interface Rooms {
        owners: { incarnation: string; pid: number }[];
        rooms: Record<string, unknown>[];
      }
      const { owners, rooms } = await whole<Rooms>("/operator/rooms/lobby");
      const workers = (await get("/operator/workers")).body["workers"] as typeof owners;
      const [owner] = owners;
      assert.equal(workers.find(({ pid }) => pid === owner?.pid)?.incarnation, owner?.incarnation);
      const held = rooms.find((one) => one["code"] === code);
      assert.deepEqual([held?.["status"], held?.["owner"]], ["waiting", owner?.incarnation]);
      const few = await whole<Rooms>("/operator/rooms/lobby?limit=1");
      assert.equal(few.rooms.length, 1);
      const stream = await host.listen(code);
      const { room } = await whole<{ room: Record<string, unknown> }>(
        `/operator/rooms/lobby/${code.toLowerCase()}`,
      );
      const { kind, status, num_subscribers } = room;
      assert.deepEqual([kind, status, num_subscribers], ["lobby", "waiting", 1]);
      assert.deepEqual([room["code"], room["owner"]], [code, owner?.incarnation]);
      stream.close();
    });

    it("refuse unknown kinds and rooms", async () => {
      assert.equal((await get("/operator/rooms/nothing")).code, "room:kind_not_found");
      for (const path of ["/nothing/AAAAAA", "/lobby/AAAAAA", "/lobby/A"])
        assert.equal((await get(`/operator/rooms${path}`)).code, "room:not_found", path);
      assert.equal((await get("/operator/rooms/lobby?limit=many")).code, "request:invalid_query");
      assert.equal((await get("/operator/rooms", "nobody")).code, "auth:token_invalid");
    });
  });
  describe("for players", () => {
    const password = "correct horse 1";
    const email = "operated@example.com";
    let id = 0;
    let token = "";

    const api = async (method: string, path: string, body?: object, bearer = "") => {
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: {
          "Content-Type": "application/json",
          ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      const json = text === "" ? {} : (JSON.parse(text) as { body?: Record<string, unknown> });
      return { status: response.status, body: json.body ?? {} };
    };
    const login = (secret: string) =>
      api("POST", "/v1/gateway/login", { identifier: email, password: secret });
    const path = (verb = "") => `/operator/players/${id}${verb}`;
    const player = async (role = "operator") =>
      (await get(path(), role)).body["player"] as Record<string, unknown>;
    const reason = "asked by mail";

    before(async () => {
      const { body } = await api("POST", "/v1/users", { email, username: "operated", password });
      id = (body["player"] as { id: number }).id;
      token = String(body["access_token"]);
    });

    it("show a player's state, sessions and lock, and hide the full address from a viewer", async () => {
      assert.deepEqual(
        [(await player()).email, (await player("viewer")).email],
        [email, "o***@example.com"],
      );
      assert.equal((await player())["num_sessions"], 1);
      assert.equal((await get("/operator/players/999999")).code, "player:not_found");
      assert.equal((await get("/operator/players/ada")).code, "player:not_found");
    });

    it("show wallet, messages and uploads of a player", async () => {
      for (const part of ["/wallet", "/messages", "/uploads"]) {
        const { status, body } = await get(path(part));
        assert.deepEqual([status, body["player"]], [200, { id, name: "operated" }], part);
        assert.equal((await get(`/operator/players/999999${part}`)).code, "player:not_found");
      }
    });

    it("end a lock only when given a reason", async () => {
      for (let i = 0; i < 5; i++) await login("wrong horse 1");
      assert.equal((await login(password)).status, 423);
      assert.ok(Number((await player())["locked_seconds"]) > 0);
      assert.equal((await post(path("/unlock"))).code, "validation:failed");
      assert.equal((await post(path("/unlock"), { reason: " " })).code, "validation:failed");
      assert.deepEqual((await post(path("/unlock"), { reason })).body["is_locked"], false);
      assert.equal((await login(password)).status, 200);
    });

    it("end every session of a player", async () => {
      const answer = await post(path("/revoke-sessions"), { reason });
      assert.deepEqual(answer.body, { id, name: "operated", num_sessions_ended: 2 });
      assert.equal((await player())["num_sessions"], 0);
    });

    it("restore a closed account, and refuse to restore an open one", async () => {
      assert.equal((await post(path("/restore"), { reason })).code, "account:not_restorable");
      assert.equal((await api("DELETE", "/v1/users/@me", { password }, token)).status, 200);
      assert.equal((await login(password)).status, 401);
      assert.equal((await post(path("/restore"), { reason })).status, 200);
      assert.equal((await login(password)).status, 200);
      await until(async () => (await api("GET", "/v1/users/@me", undefined, token)).status === 200);
    });

    it("add an audit entry for every change, with the console's action names", async () => {
      const entry = ["test operator", `player ${id}`, reason];
      for (const action of ["account:unlock", "account:sign-out"])
        assert.deepEqual(await auditOf(action), [entry], action);
      assert.deepEqual(await auditOf("account:restore"), [entry, entry], "the refused one too");
    });

    it("are listed with their outcome and the request that made them", async () => {
      const { body, pagination } = await get(
        `/operator/audit?target=${encodeURIComponent(`player ${id}`)}`,
      );
      const entries = body["entries"] as { outcome: string; request_id: string }[];
      assert.equal(pagination?.["total"], 4);
      assert.deepEqual(
        entries.map(({ outcome }) => outcome),
        ["done", "refused", "done", "done"],
      );
      for (const { request_id: request } of entries) assert.match(request, /^[\w.-]{8,64}$/);
      const { body: paused } = await get("/operator/audit?action=queue:retry-failed");
      const [entry] = paused["entries"] as { outcome: string; num_changed: number }[];
      assert.equal(entry?.outcome, "done");
      assert.ok((entry?.num_changed ?? 0) > 0);
    });
  });
});
