import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { codeOf } from "./answers.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

const app = "https://app.example.com";
const realm = "https://realm.example.com";
const realms = new Set<string>();
let sample: SampleServer;
let client: Client;

const corsHeaders = (headers: Headers) =>
  [...headers].filter(([name]) => name.startsWith("access-control-"));

const ask = (path: string, origin: string, wanted: string) =>
  client.request("OPTIONS", path, {
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": wanted,
    },
  });

describe("requests from other origins", () => {
  before(async () => {
    sample = await startSample({
      routes: sampleRoutes,
      env: { CORS_ORIGINS: `${app}, http://localhost:3000`, CORS_PUBLIC_DATA: "true" },
      server: { realmOrigins: () => realms },
    });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  describe("a response", () => {
    test("permits a listed origin, in any spelling, with credentials", async () => {
      for (const origin of [app, "HTTPS://App.example.com:443", "http://localhost:3000"]) {
        const { headers } = await client.get("/v1/ping", { headers: { origin } });
        assert.equal(headers.get("access-control-allow-origin"), origin);
        assert.equal(headers.get("access-control-allow-credentials"), "true");
        assert.match(headers.get("access-control-expose-headers") ?? "", /X-Lobby-Token/);
        assert.match(headers.get("vary") ?? "", /Origin/);
      }
    });

    test("permits nothing to any other origin", async () => {
      const others = [
        "null",
        "https://app.example.com.evil.example",
        "http://app.example.com",
        `${app}:8443`,
        `${app}/x`,
        "https://u@app.example.com",
        "*",
        "",
      ];
      for (const origin of others) {
        const { headers } = await client.get("/v1/ping", { headers: { origin } });
        assert.deepEqual(corsHeaders(headers), [], origin);
      }
    });

    test("with an error carries the CORS headers, too", async () => {
      const answer = await client.get("/v1/as/player", { headers: { origin: app } });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get("access-control-allow-origin"), app);
    });

    test("follows changes of the realms' origins", async () => {
      const read = () => client.get("/v1/ping", { headers: { origin: realm } });
      assert.deepEqual(corsHeaders((await read()).headers), []);
      realms.add(realm);
      assert.equal((await read()).headers.get("access-control-allow-origin"), realm);
    });

    test("with public data is readable from every origin, ETag included, without credentials", async () => {
      const { headers } = await client.get("/v1/cached", {
        headers: { origin: "https://other.example" },
      });
      assert.equal(headers.get("access-control-allow-origin"), "*");
      assert.match(headers.get("access-control-expose-headers") ?? "", /ETag/);
      assert.equal(headers.get("access-control-allow-credentials"), null);
    });
  });
  describe("a preflight", preflight);
  describe("authority from a cookie", () => {
    const refresh = (headers: Record<string, string>) =>
      client.post("/v1/refresh", { headers: { cookie: "svc_refresh=x", ...headers } });

    test("is accepted without browser headers, from our own pages and from listed origins", async () => {
      for (const headers of [
        {},
        { origin: sample.url },
        { origin: app },
        { origin: app, "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-origin" },
        { origin: sample.url.replace("http:", "https:"), "sec-fetch-site": "same-origin" },
      ])
        assert.equal((await refresh(headers as Record<string, string>)).status, 200);
    });

    test("is refused from other origins", async () => {
      for (const headers of [
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
        { origin: sample.url.replace("http:", "https:") },
        { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
      ])
        assert.equal(
          codeOf(await refresh(headers as Record<string, string>)),
          "request:origin_forbidden",
        );
    });

    test("is refused for the media types that a form can send", async () => {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
      ])
        assert.equal(
          codeOf(await refresh({ "content-type": type })),
          "request:unsupported_media_type",
        );
    });
  });
  describe("a cookie that opens a session", () => {
    const evil = [
      { origin: "https://evil.example" },
      { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      { origin: "null", "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": " Cross-Site" },
      { "sec-fetch-site": "same-site" },
      { origin: "null", "sec-fetch-site": "same-site" },
    ] as Record<string, string>[];

    test("is neither set nor cleared for a page of another site, with or without an existing cookie", async () => {
      for (const headers of evil)
        for (const cookie of [{}, { cookie: "svc_refresh=x" }]) {
          const answer = await client.post("/v1/refresh", { headers: { ...headers, ...cookie } });
          assert.equal(codeOf(answer), "request:origin_forbidden");
          assert.deepEqual(answer.headers.getSetCookie(), []);
        }
    });

    test("is set for listed origins, for our own pages and for programs, with any content type", async () => {
      const own = [{ origin: app, "sec-fetch-site": "cross-site" }, { origin: sample.url }, {}];
      for (const headers of own as Record<string, string>[])
        assert.equal((await client.post("/v1/refresh", { headers })).status, 200);
      const form = { "content-type": "application/x-www-form-urlencoded", "content-length": "0" };
      const answer = await client.post("/v1/refresh", { headers: form, body: "" });
      assert.equal(answer.status, 200);
    });

    test("is set by a navigation address only for a navigation", async () => {
      const visit = (destination: string, site = "cross-site") =>
        client.get("/v1/landing", {
          headers: { "sec-fetch-site": site, "sec-fetch-dest": destination },
        });
      for (const site of ["cross-site", "same-site", "none"])
        assert.equal((await visit("document", site)).status, 302);
      assert.equal((await visit("image", "same-origin")).status, 302);
      assert.equal((await client.get("/v1/landing")).status, 302);
      for (const site of ["cross-site", "same-site"])
        for (const destination of ["image", "iframe", "script", "empty"]) {
          const answer = await visit(destination, site);
          assert.equal(codeOf(answer), "request:origin_forbidden", `${destination} ${site}`);
          assert.deepEqual(answer.headers.getSetCookie(), []);
        }
    });
  });

  test("treats pages under another configured name of the service as its own", async () => {
    const env = { PUBLIC_BASE_URL: "https://game.example.com" };
    const named = await startSample({ routes: sampleRoutes, env });
    const ask = (origin: string, headers: Record<string, string> = {}) =>
      createClient(named.url, sampleRoutes).post("/v1/refresh", {
        headers: { origin, ...headers },
      });
    for (const origin of ["https://game.example.com", named.url])
      assert.equal((await ask(origin)).status, 200, origin);
    const other = await ask("https://www.game.example.com", { "sec-fetch-site": "same-site" });
    assert.equal(codeOf(other), "request:origin_forbidden");
    await named.stop();
  });
});

function preflight(): void {
  test("grants a listed origin the methods of the path", async () => {
    const { status, headers } = await ask("/v1/things/3", app, "authorization");
    assert.equal(status, 204);
    assert.equal(headers.get("access-control-allow-origin"), app);
    assert.equal(headers.get("access-control-allow-methods"), "GET, HEAD, DELETE, OPTIONS");
    assert.match(headers.get("access-control-allow-headers") ?? "", /Idempotency-Key/);
    assert.equal(headers.get("access-control-max-age"), "600");
  });

  test("grants tracing headers to all origins", async () => {
    const named = ["traceparent", "tracestate", "baggage", "b3", "sentry-trace", "x-request-id"];
    const asked = [
      "x-b3-traceid",
      "x-datadog-trace-id",
      "x-datadog-sampling-priority",
      "uber-trace-id",
      "x-amzn-trace-id",
      "x-cloud-trace-context",
      "newrelic",
      "request-id",
      "x-dtpc",
      "x-highlight-request",
      "x-ms-request-id",
    ];
    const { headers } = await ask("/v1/echo", app, [...asked, "X-Other"].join(", "));
    const granted = (headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
    for (const name of [...named, ...asked]) assert.ok(granted.includes(name), name);
    assert.ok(!granted.includes("x-other"));
  });

  test("grants other origins only requests with X-Api-Key, without credentials", async () => {
    assert.deepEqual(
      corsHeaders((await ask("/v1/echo", "https://other.example", "authorization")).headers),
      [],
    );
    const { headers } = await ask("/v1/echo", "https://other.example", "content-type, x-api-key");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("access-control-allow-credentials"), null);
  });
}
