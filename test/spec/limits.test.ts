import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfig } from "../../server/platform/config/config.ts";
import { limitOf } from "../../server/http/limits/rate-limit.ts";
import { routes } from "../../server/app/routes.ts";
import { pending } from "./pending.ts";

/** Document 1, Limits, as interpreted by GW-01, GW-11 and USR-06: requests, seconds, counted unit. */
const limits: Readonly<Record<string, readonly [max: number, window: number, per?: "account"]>> = {
  "POST /v1/gateway/login": [10, 60],
  "POST /v1/gateway/code/request": [5, 60],
  "POST /v1/gateway/code/verify": [10, 60],
  "POST /v1/gateway/guest": [60, 60],
  "POST /v1/gateway/upgrade": [10, 60],
  "POST /v1/gateway/reset-password/request": [5, 60],
  "POST /v1/gateway/reset-password": [5, 60],
  "GET /v1/gateway/oauth/{provider}/url": [30, 60],
  "POST /v1/users": [10, 60],
  "POST /v1/users/check": [20, 60],
  "POST /v1/users/email/verify": [10, 60],
  "POST /v1/users/@me/email/resend-verification": [3, 600, "account"],
  "POST /v1/users/@me/phone": [5, 300],
  "POST /v1/users/@me/phone/verify": [10, 60],
  "PATCH /v1/users/@me/avatar": [20, 60],
  "POST /v1/users/@me/avatar/upload": [5, 300],
  "DELETE /v1/users/@me/avatar/upload": [20, 60],
  "POST /v1/realms/{slug}/keys": [10, 60],
  "POST /v1/realms/{slug}/keys/{id}/roll": [5, 60],
  "POST /v1/subscribe": [5, 60],
  "POST /v1/leads/contact": [5, 60],
  "POST /v1/leads/feedback": [5, 60],
  "POST /v1/games/trivia/questions/generate": [30, 60],
  "POST /v1/games/trivia/categorize": [20, 60],
};

describe("the limits of document 1", () => {
  const config = parseConfig({});

  it("match those of the routes", () => {
    for (const [key, [max, window, per = "ip"]] of Object.entries(limits)) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === key);
      if (route === undefined) {
        assert.ok(pending.includes(key), `${key} is not declared`);
        continue;
      }
      const limit = limitOf(route, config);
      const found = [limit?.anonymousMax, limit?.playerMax, limit?.windowMs, limit?.per];
      assert.deepEqual(found, [max, max, window * 1_000, per], key);
    }
  });

  it("are 60 a minute, and 300 per player, on other routes that write", () => {
    const own = [
      "PATCH /v1/users/@me",
      "DELETE /v1/users/@me/phone",
      "POST /v1/users/@me/password",
    ];
    own.push("PATCH /v1/realms/{slug}/keys/{id}", "POST /v1/gateway/refresh");
    for (const key of own) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === key);
      assert.ok(route, key);
      const limit = limitOf(route, config);
      assert.deepEqual(
        [limit?.anonymousMax, limit?.playerMax, limit?.per],
        [60, 300, "account"],
        key,
      );
    }
  });
});
