import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { AuditLogSchema } from "../../../db/entities/audit-log.ts";
import { createOrm } from "../../../db/orm.ts";
import { operatorRoles } from "../../../server/http/auth/auth.ts";
import { entriesCsv, maxCsvEntries } from "../../../server/features/operators/domain/audit-log.ts";
import { auditLogRoutes, type AuditLogDeps } from "../../../server/operator/audit-log/routes.ts";
import { createAuditLog } from "../../../server/operator/audit-log/service.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { testDatabase } from "../../support/stores.ts";
import { answerOf } from "./call-route.ts";

interface Shown {
  entries: { operator: string; action: string; reason: string; outcome: string }[];
}

const evil = `"><img src=x onerror=alert(1)>`;
const at = (day: number) => new Date(Date.UTC(2026, 2, day, 12));

const rows = [
  { operator: "olga", action: "job:retry", target: "mail 7", reason: "mended", day: 1 },
  {
    operator: "olga",
    action: "queue:pause",
    target: "mail",
    reason: "ask ada@example.com",
    day: 2,
  },
  { operator: "console", action: "ingots:gift", target: "player 7", reason: "=1+1", day: 3 },
  { operator: evil, action: evil, target: evil, reason: evil, day: 4 },
].map(({ day, ...row }) => ({ ...row, outcome: "done" as const, createdAt: at(day) }));

describe("the audit log that operators read", () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let orm: MikroORM;
  let deps: AuditLogDeps;

  before(async () => {
    database = await testDatabase();
    orm = await createOrm(parseConfig({ DATABASE_URL: database.url }));
    deps = { auditLog: createAuditLog(async () => orm) };
    const [first, ...others] = rows;
    await orm.em
      .fork()
      .insertMany(AuditLogSchema, [
        { ...first, numChanged: 12, requestId: "request-1", outcome: "refused" },
        ...others,
      ] as never);
  });
  after(async () => {
    await orm.close(true);
    await database.drop();
  });

  const call = (path: string, options = {}) =>
    answerOf<AuditLogDeps, Shown>(auditLogRoutes, deps, path, options);
  const targetsOf = async (query: string) => {
    const { body } = await call(`/operator/audit?${query}`);
    return body.entries.map((entry) => (entry as unknown as { target: string }).target);
  };

  it("comes newest first, with outcome, number and request", async () => {
    const { body, pagination } = await call("/operator/audit");
    assert.deepEqual(body.entries.at(-1), {
      ...{ id: 1, created_at: "2026-03-01T12:00:00+00:00", operator: "olga" },
      ...{ action: "job:retry", target: "mail 7", reason: "mended", outcome: "refused" },
      ...{ num_changed: 12, request_id: "request-1", detail: {} },
    });
    assert.deepEqual(pagination, { page: 1, limit: 50, total: 4, has_more: false });
  });

  it("is searched by operator, action, target and time", async () => {
    assert.deepEqual(await targetsOf("operator=olga"), ["mail", "mail 7"]);
    assert.deepEqual(await targetsOf("action=queue:pause"), ["mail"]);
    assert.deepEqual(await targetsOf("target=player+7"), ["player 7"]);
    assert.deepEqual(await targetsOf("from=2026-03-02&to=2026-03-03"), ["mail"]);
    assert.deepEqual(await targetsOf("from=2026-03-03T12:00:00Z&to=2026-03-03T12:00:01Z"), [
      "player 7",
    ]);
    assert.deepEqual(await targetsOf("operator=olga&action=job:retry&target=nothing"), []);
    assert.equal((await targetsOf("operator=&action=&target=&from=&to=")).length, 4);
    for (const time of ["yesterday", "2026-13-45", "2026-03-01T25:00:00Z"])
      assert.equal((await call(`/operator/audit?from=${time}`)).status, 400, time);
  });

  it("comes in pages", async () => {
    const pages = [1, 2, 3].map((page) => call(`/operator/audit?limit=3&page=${page}`));
    const found = await Promise.all(pages);
    assert.deepEqual(
      found.map(({ body, pagination }) => [body.entries.length, pagination?.has_more]),
      [
        [3, true],
        [1, false],
        [0, false],
      ],
    );
    const { text } = await call("/operator/audit?limit=3&operator=&page=1", {
      headers: { accept: "text/html" },
    });
    assert.ok(text.includes("page&#61;") || text.includes("page=2"), "a link to the next page");
  });

  it("masks reasons, and escapes every text", async () => {
    for (const role of operatorRoles) {
      const { body, status } = await call("/operator/audit", { role });
      assert.equal(status, 200);
      assert.ok(body.entries.every(({ reason }) => !reason.includes("ada@")));
    }
    const { text } = await call("/operator/audit", { headers: { accept: "text/html" } });
    assert.match(text, /<strong class="wrong">refused/);
    assert.ok(text.includes("&#60;img src=x onerror=alert(1)&#62;"));
    assert.doesNotMatch(text, /<img|ada@/);
    const query = `operator=${encodeURIComponent(evil)}`;
    const found = await call(`/operator/audit?${query}`, { headers: { accept: "text/html" } });
    assert.doesNotMatch(found.text, /<img/);
  });

  it("says that it is unknown while Postgres is away", async () => {
    const away = { auditLog: createAuditLog(() => Promise.reject(new Error("away"))) };
    const read = (headers = {}) =>
      answerOf<AuditLogDeps, { has_entries: boolean }>(auditLogRoutes, away, "/operator/audit", {
        headers,
      });
    const { status, body } = await read();
    assert.deepEqual([status, body.has_entries], [200, false]);
    const { text } = await read({ accept: "text/html" });
    assert.match(text, /class="wrong">Postgres does not respond/);
  });

  it("is a CSV file that no spreadsheet runs", async () => {
    const { status, text } = await call("/operator/audit.csv?operator=console");
    assert.equal(status, 200);
    const [header, line] = text.replace("\ufeff", "").trim().split("\r\n");
    assert.match(header ?? "", /^"id","created_at","operator",/);
    assert.match(line ?? "", /"ingots:gift","player 7","'=1\+1","done"/);
  });

  it("is a CSV file of at most 10,000 entries, the newest", async () => {
    const em = orm.em.fork();
    const more = Array.from({ length: maxCsvEntries }, (_, number) => ({
      ...{ operator: "many", action: "job:retry", target: `mail ${number}`, reason: "" },
      ...{ outcome: "done", createdAt: at(5) },
    }));
    await em.insertMany(AuditLogSchema, more as never);
    const lines = (await entriesCsv(em, {})).trim().split("\r\n");
    assert.equal(lines.length, 1 + maxCsvEntries);
    assert.match(lines[1] ?? "", /"mail 9999"/);
    assert.doesNotMatch(lines.at(-1) ?? "", /"olga"/);
  });
});
