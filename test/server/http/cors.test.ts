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
before(async () => {
  sample = await startSample({
    routes: sampleRoutes,
    env: { CORS_ORIGINS: `${app}, http://localhost:3000`, CORS_PUBLIC_DATA: "true" },
    server: { realmOrigins: () => realms },
  });
  client = createClient(sample.url, sampleRoutes);
});
after(() => sample.stop());

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

describe("an answer", () => {
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

  test("that refuses carries the permission, too", async () => {
    const answer = await client.get("/v1/as/player", { headers: { origin: app } });
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get("access-control-allow-origin"), app);
  });

  test("follows the origins of realms as they change", async () => {
    const read = () => client.get("/v1/ping", { headers: { origin: realm } });
    assert.deepEqual(corsHeaders((await read()).headers), []);
    realms.add(realm);
    assert.equal((await read()).headers.get("access-control-allow-origin"), realm);
  });

  test("with public data is for everyone, tag and all, without credentials", async () => {
    const { headers } = await client.get("/v1/cached", {
      headers: { origin: "https://other.example" },
    });
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.match(headers.get("access-control-expose-headers") ?? "", /ETag/);
    assert.equal(headers.get("access-control-allow-credentials"), null);
  });
});

describe("a preflight", () => {
  test("grants a listed origin the methods of the path", async () => {
    const { status, headers } = await ask("/v1/things/3", app, "authorization");
    assert.equal(status, 204);
    assert.equal(headers.get("access-control-allow-origin"), app);
    assert.equal(headers.get("access-control-allow-methods"), "GET, HEAD, DELETE, OPTIONS");
    assert.match(headers.get("access-control-allow-headers") ?? "", /Idempotency-Key/);
    assert.equal(headers.get("access-control-max-age"), "600");
  });

  test("grants others only what asks for X-Api-Key, without credentials", async () => {
    assert.deepEqual(
      corsHeaders((await ask("/v1/echo", "https://other.example", "authorization")).headers),
      [],
    );
    const { headers } = await ask("/v1/echo", "https://other.example", "content-type, x-api-key");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("access-control-allow-credentials"), null);
  });
});

describe("authority from a cookie", () => {
  const refresh = (headers: Record<string, string>) =>
    client.post("/v1/refresh", { headers: { cookie: "svc_refresh=x", ...headers } });

  test("is honoured without browser headers, from ourselves and from listed origins", async () => {
    for (const headers of [
      {},
      { origin: sample.url },
      { origin: app },
      { origin: app, "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-origin" },
    ])
      assert.equal((await refresh(headers as Record<string, string>)).status, 200);
  });

  test("is refused from elsewhere", async () => {
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { origin: sample.url.replace("http:", "https:") },
    ])
      assert.equal(
        codeOf(await refresh(headers as Record<string, string>)),
        "request:origin_forbidden",
      );
  });

  test("is not in play when the cookie was not sent", async () => {
    const answer = await client.post("/v1/refresh", {
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    });
    assert.equal(answer.status, 200);
  });

  test("is refused to what a form can send", async () => {
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
