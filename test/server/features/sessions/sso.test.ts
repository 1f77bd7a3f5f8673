import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { RealmBrandingSchema } from "../../../../db/entities/realm-branding.ts";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { allowedRedirect } from "../../../../server/features/sessions/redirects.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { randomBelow } from "../../../support/random.ts";
import { cookieOf, enter, post, registerAccount } from "../../../support/identity.ts";

const clock = manualClock();
const redirectTarget = "https://play.example.com/after?x=1#y";
const secret = "s".repeat(40);
let app: App;

async function passportOf(session: { access_token: string }): Promise<string> {
  const answer = await app.client.get("/v1/tokens/passport", { token: session.access_token });
  const body = answer.body as { passport: string; expires_in: number };
  assert.equal(body.expires_in, 60);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  return body.passport;
}

const customs = (query: Record<string, string>, method = "GET") =>
  app.client.request(method, `/v1/gateway/customs?${new URLSearchParams(query).toString()}`);

const codeOf = (answer: { json: unknown }) =>
  (answer.json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0]?.code;

const refreshWith = (cookie: string | null) =>
  post(
    app,
    "/v1/gateway/refresh",
    {},
    cookieOf(/svc_refresh=([^;]+)/.exec(cookie ?? "")?.[1] ?? ""),
  );

describe("passports", () => {
  before(async () => {
    app = await startApp({ clock, env: { SSO_ALLOWED_HOSTS: "games.example, *.example.com" } });
    const em = app.deps.orm.em.fork();
    const realms = [
      ["arena", true, "https://arena.test:8443/play"],
      ["closed", false, "https://closed.test"],
    ] as const;
    for (const [slug, isActive, frontendUrl] of realms) {
      const realm = em.create(RealmSchema, { slug, name: slug, isActive });
      em.create(RealmBrandingSchema, { realm, frontendUrl });
    }
    await em.flush();
  });
  after(() => app.stop());

  describe("a passport", () => {
    it("opens a session of the same player elsewhere and puts no token into the address", async () => {
      const { session } = await registerAccount(app);
      const guest = await enter(app);
      for (const [one, maxAge] of [
        [session, 2_592_000],
        [guest, 63_072_000],
      ] as const) {
        const answer = await customs({ passport: await passportOf(one), redirect: redirectTarget });
        assert.equal(answer.status, 302);
        assert.equal(answer.headers.get("location"), redirectTarget);
        assert.equal(answer.headers.get("cache-control"), "no-store");
        assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
        const cookie = answer.headers.get("set-cookie") ?? "";
        assert.ok(cookie.includes(`Max-Age=${maxAge}`));
        const refreshed = await refreshWith(cookie);
        assert.equal(refreshed.body.player.id, one.player.id);
      }
    });

    it("works once, even for fifty concurrent uses, and is not consumed by HEAD or prefetch", async () => {
      const { session } = await registerAccount(app);
      const passport = await passportOf(session);
      const head = await customs({ passport, redirect: redirectTarget }, "HEAD");
      assert.deepEqual([head.status, head.headers.get("set-cookie")], [302, null]);
      const target = `/v1/gateway/customs?${new URLSearchParams({ passport, redirect: redirectTarget }).toString()}`;
      // A browser may show a preloaded page later without a new request, so it must not look successful.
      const ahead = await app.client.get(target, { headers: { "sec-purpose": "prefetch" } });
      assert.deepEqual([ahead.status, ahead.headers.get("set-cookie")], [401, null]);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => customs({ passport, redirect: redirectTarget })),
      );
      const statuses = answers.map(({ status }) => status).toSorted();
      assert.deepEqual(statuses, [302, ...Array<number>(49).fill(401)]);
    });

    it("is refused when expired, malformed, missing, or from a session that has ended", async () => {
      const { session } = await registerAccount(app);
      const late = await passportOf(session);
      clock.advance(60_000);
      const ended = await registerAccount(app);
      const passport = await passportOf(ended.session);
      const cookie = cookieOf(ended.session.refresh_token);
      await post(app, "/v1/gateway/logout", undefined, cookie);
      for (const one of [late, passport, session.access_token, "x", ""]) {
        const answer = await customs({ passport: one, redirect: redirectTarget });
        assert.deepEqual([answer.status, codeOf(answer)], [401, "sso:passport_invalid"]);
        assert.equal(answer.headers.get("set-cookie"), null);
        assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      }
      const none = await customs({ redirect: redirectTarget });
      assert.equal(codeOf(none), "sso:passport_invalid");
      const head = await customs({ passport: late, redirect: redirectTarget }, "HEAD");
      assert.equal(head.status, 401);
    });

    it("is not consumed by a refused redirect, which is checked first", async () => {
      const { session } = await registerAccount(app);
      const passport = await passportOf(session);
      for (const query of [{ passport }, { passport: "x", redirect: "https://evil.example" }]) {
        const answer = await customs(query as Record<string, string>);
        assert.deepEqual([answer.status, codeOf(answer)], [400, "sso:redirect_invalid"]);
        assert.equal(answer.headers.get("location"), null);
        assert.ok(!answer.text.includes("evil.example"));
      }
      assert.equal((await customs({ passport, redirect: redirectTarget })).status, 302);
    });

    it("is not issued to anonymous callers", async () => {
      const asked = [{}, { token: "x.y.z" }].map((call) =>
        app.client.get("/v1/tokens/passport", call),
      );
      const answers = (await Promise.all(asked)).map((one) => [one.status, codeOf(one)]);
      assert.deepEqual(answers, [
        [401, "auth:required"],
        [401, "auth:token_invalid"],
      ]);
    });
  });
  describe("a redirect", () => {
    const decide = async (text: string, env: Record<string, string> = {}) => {
      const config = { ...app.deps.config, ...env };
      const { em } = app.deps;
      return allowedRedirect({ config, em }, text).catch(() => null);
    };

    it("leads to listed hosts, subdomains of a wildcard, and pages of active realms", async () => {
      for (const text of [
        "https://games.example",
        "https://GAMES.example/a?b#c",
        "https://games.example:443/",
        "https://a.example.com/x",
        "https://a.b.example.com",
        "https://arena.test:8443/other",
      ])
        assert.equal(await decide(text), new URL(text).href, text);
    });

    it("leads to no other host, in any spelling", async () => {
      for (const text of [
        "",
        "/path",
        "//games.example",
        "games.example",
        "http://games.example",
        "https://example.com",
        "https://notexample.com",
        "https://evil.test/?games.example",
        "https://games.example.evil.test",
        "https://evilgames.example",
        "https://games.example:8443",
        "https://arena.test",
        "https://arena.test:8444",
        "https://closed.test",
        "https://games.example@evil.test",
        "https://user@games.example",
        "https://user:pass@games.example",
        "https://@games.example",
        "https://evil.test\\@games.example",
        "https:\\\\games.example",
        "https:games.example",
        "https:///games.example",
        "javascript:alert(1)//games.example",
        "data:text/html,games.example",
        "https://games.example/\r\nset-cookie:a=b",
        " https://games.example",
        "https://games\t.example",
        "https://games.example%2eevil.test",
        `https://games.example/${"a".repeat(2_100)}`,
        "http://localhost:3000",
        "https://[::1]",
        "https://.example.com",
        "https://a..example.com",
        "https://games.example.",
      ])
        assert.equal(await decide(text), null, text);
    });

    it("follows the allowlist for every combination of hostile parts", async () => {
      const parts = [
        ...[
          "https://",
          "http://",
          "//",
          "\\\\",
          "/",
          "\\",
          "@",
          ":",
          "#",
          "?",
          ".",
          "%",
          " ",
          "\t",
        ],
        ...[
          "games.example",
          "a.example.com",
          "example.com",
          "arena.test",
          ":8443",
          ":443",
          "evil.test",
        ],
        ...[
          "user",
          "%2e",
          "%00",
          "。",
          "xn--",
          "\u00ad",
          "localhost",
          "[::1]",
          "javascript:",
          "GAMES",
        ],
      ];
      const allowed =
        /^https:\/\/(games\.example|([a-z0-9-]+\.)+example\.com|arena\.test:8443)([/?#]|$)/;
      const next = randomBelow(7);
      let accepted = 0;
      for (let n = 0; n < 3_000; n++) {
        const start =
          ["", "https://", "https://games.example", "https://a.example.com"][n % 4] ?? "";
        const text =
          start + Array.from({ length: 1 + next(5) }, () => parts[next(parts.length)]).join("");
        const found = await decide(text);
        if (found === null) continue;
        accepted += 1;
        assert.match(found, allowed, text);
        assert.equal(new URL(found).username + new URL(found).password, "", text);
      }
      assert.ok(accepted > 100);
    });

    it("leads to localhost outside production by default", async () => {
      const local = ["http://localhost:5173/x", "http://127.0.0.1:8080/", "https://localhost/"];
      for (const text of local) {
        assert.equal(await decide(text, { SSO_ALLOWED_HOSTS: "" }), text);
        assert.equal(await decide(text, { SSO_ALLOWED_HOSTS: "", APP_ENV: "production" }), null);
      }
      const listed = { SSO_ALLOWED_HOSTS: "localhost", APP_ENV: "production" };
      assert.equal(await decide("http://localhost:5173/x", listed), null);
      assert.equal(await decide("https://localhost:5173/x", listed), "https://localhost:5173/x");
    });

    it("is configured by a list that is validated at start", () => {
      for (const list of ["https://a.example", "a..b", "*", "a.example/x", "a.example,"])
        assert.throws(
          () => parseConfig({ APP_SECRET: secret, SSO_ALLOWED_HOSTS: list }),
          /SSO_ALLOWED/,
        );
    });
  });
});
