import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOrm } from "../../../../db/orm.ts";
import { formatUptime, readHealth } from "../../../../server/features/system/service.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import type { Deps } from "../../../../server/app/deps.ts";
import { createHttpServer } from "../../../../server/http/uws/server.ts";
import { routes } from "../../../../server/app/routes.ts";
import { startApp } from "../../../support/app.ts";
import { createClient } from "../../../support/client.ts";

describe("GET /v1/health-check", () => {
  it("returns ok, and degraded while Redis is unavailable", async () => {
    const app = await startApp({ hasJobs: false });
    try {
      const healthy = await app.client.get("/v1/health-check");
      assert.equal(healthy.status, 200);
      assert.equal((healthy.body as { status: string }).status, "ok");
      assert.equal(healthy.headers.get("cache-control"), "public, max-age=30");
      assert.equal(healthy.headers.get("vary"), "Origin, X-Api-Key");
      assert.equal(healthy.headers.get("etag"), null);
      await app.stores.redis.kill();
      const unhealthy = await app.client.get("/v1/health-check");
      assert.equal(unhealthy.status, 200);
      assert.equal((unhealthy.body as { status: string }).status, "degraded");
      await app.stores.redis.restart();
    } finally {
      await app.stop();
    }
  });

  it("is refused while the database is unavailable", async () => {
    const app = await startApp({ hasJobs: false });
    const orm = await createOrm({ DATABASE_URL: "postgres:///x?host=/nowhere", DATABASE_POOL: 1 });
    const deps = Object.create(app.deps, { orm: { value: orm } }) as Deps;
    const server = createHttpServer({ deps, routes, log: silentLogger, exclusive: true });
    try {
      const client = createClient(
        `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`,
        routes,
      );
      const answer = await client.get("/v1/health-check");
      assert.equal(answer.status, 500);
      assert.match(answer.text, /"system:database_unreachable"/);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      await assert.rejects(readHealth({ orm, redis: app.deps.redis }), {
        code: "system:database_unreachable",
      });
    } finally {
      await server.close();
      await orm.close(true);
      await app.stop();
    }
  });

  it("shows the uptime in days, hours, minutes and seconds", () => {
    assert.equal(formatUptime(0.9), "0d 0h 0m 0s");
    assert.equal(formatUptime(86_400 + 3_600 * 2 + 60 * 3 + 4.5), "1d 2h 3m 4s");
  });
});
