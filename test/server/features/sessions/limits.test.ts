import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { routes } from "../../../../server/app/routes.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, registerAccount } from "../../../support/identity.ts";

/**
 * Document 1, Limits (login: GW-01): requests and seconds of the endpoints that create and change accounts.
 */
const table: Readonly<Record<string, readonly [max: number, window: number]>> = {
  "POST /v1/gateway/login": [10, 60],
  "POST /v1/gateway/code/request": [5, 60],
  "POST /v1/gateway/code/verify": [10, 60],
  "POST /v1/gateway/guest": [60, 60],
  "POST /v1/gateway/upgrade": [10, 60],
  "POST /v1/gateway/reset-password/request": [5, 60],
  "POST /v1/gateway/reset-password": [5, 60],
  "GET /v1/gateway/oauth/{provider}/url": [30, 60],
  "POST /v1/gateway/oauth/{provider}/callback": [30, 60],
  "POST /v1/users": [10, 60],
  "POST /v1/users/check": [20, 60],
  "POST /v1/users/email/verify": [10, 60],
  "POST /v1/users/@me/phone": [5, 300],
  "POST /v1/users/@me/phone/verify": [10, 60],
  "POST /v1/realms/{slug}/keys": [10, 60],
  "POST /v1/realms/{slug}/keys/{id}/roll": [5, 60],
  "POST /v1/subscribe": [5, 60],
  "POST /v1/leads/contact": [5, 60],
  "POST /v1/leads/feedback": [5, 60],
};

describe("the rate limits of the account endpoints", () => {
  let app: App;
  before(async () => {
    const env = { RATE_LIMIT_FACTOR: "1", TRUSTED_PROXIES: "127.0.0.1/32" };
    app = await startApp({ hasJobs: false, env });
  });
  after(() => app.stop());

  it("match the document, per address", () => {
    const config = parseConfig({});
    for (const [key, [max, window]] of Object.entries(table)) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === key);
      const limit = route?.rateLimit;
      assert.ok(limit, key);
      const declared = typeof limit.max === "function" ? limit.max(config) : limit.max;
      assert.deepEqual([declared, limit.window, limit.per ?? "ip"], [max, window, "ip"], key);
    }
  });

  it("count invalid requests too, allow exactly the limit, and send Retry-After", async () => {
    const guest = (await enter(app)).access_token;
    const registered = (await registerAccount(app)).session.access_token;
    // Another address than in the two calls above.
    const headers = { "x-forwarded-for": "203.0.113.7" };
    for (const [key, [max, window]] of Object.entries(table)) {
      const [method = "", path = ""] = key.split(" ");
      const address = path.replace("{provider}", "nobody").replace("{slug}", "default");
      const call = {
        headers,
        token: key.endsWith("/upgrade") ? guest : registered,
        ...(method === "GET" ? {} : { body: { email: 7, username: 7 } }),
      };
      const answers = await Promise.all(
        Array.from({ length: max + 3 }, () =>
          app.client.request(method, address.replace("{id}", "0"), call),
        ),
      );
      const refused = answers.filter(({ status }) => status === 429);
      assert.ok(
        refused.every(({ text }) => text.includes('"rate_limit:exceeded"')),
        key,
      );
      assert.equal(refused.length, 3, key);
      for (const answer of refused) {
        const wait = Number(answer.headers.get("retry-after"));
        assert.ok(wait > 0 && wait <= window, key);
        assert.equal(answer.headers.get("x-ratelimit-limit"), String(max));
        assert.equal(answer.headers.get("x-ratelimit-remaining"), "0");
        assert.ok(answer.text.includes(`"retry_after":${wait}`));
      }
    }
  });
});
