import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

const resource = "cross-origin-resource-policy";
const openerPolicy = "cross-origin-opener-policy";
const transport = "strict-transport-security";
const https = { "x-forwarded-proto": "https" };

describe("a response", () => {
  let sample: SampleServer;
  let client: Client;
  before(async () => {
    const env = { TRUSTED_PROXIES: "127.0.0.1", CORS_PUBLIC_DATA: "true" };
    sample = await startSample({ routes: sampleRoutes, env });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  it("has a same-origin resource policy unless its route allows other origins", async () => {
    for (const path of ["/v1/ping", "/v1/as/player", "/v1/none", "/v1/bug", "/v1/page"])
      assert.equal((await client.get(path)).headers.get(resource), "same-origin", path);
    const preflight = await client.request("OPTIONS", "/v1/ping");
    assert.equal(preflight.headers.get(resource), "same-origin");
  });

  it("has a cross-origin resource policy when it is a picture or public data", async () => {
    for (const path of ["/v1/picture", "/v1/cached"]) {
      const { headers } = await client.get(path);
      assert.equal(headers.get(resource), "cross-origin", path);
      // A revalidated response keeps its original headers.
      const again = { "if-none-match": headers.get("etag") ?? "" };
      const still = await client.get(path, { headers: again });
      assert.equal(still.status, 304);
      assert.equal(still.headers.get(resource), "cross-origin", path);
    }
  });

  it("isolates the window of a page, unless other sites may open the page as a popup", async () => {
    assert.equal((await client.get("/v1/page")).headers.get(openerPolicy), "same-origin");
    for (const path of ["/v1/popup", "/v1/ping"])
      assert.equal((await client.get(path)).headers.get(openerPolicy), null, path);
  });

  it("sends HSTS when the proxy received the request over https", async () => {
    for (const path of ["/v1/ping", "/v1/none", "/v1/page", "/v1/elsewhere"]) {
      const { headers } = await client.get(path, { headers: https });
      assert.equal(headers.get(transport), "max-age=31536000", path);
    }
    for (const headers of [{}, { "x-forwarded-proto": "http" }] as Record<string, string>[])
      assert.equal((await client.get("/v1/ping", { headers })).headers.get(transport), null);
  });
});

it("without trusted proxies a forwarded https header is ignored", async () => {
  const sample = await startSample({ routes: sampleRoutes });
  const answer = await createClient(sample.url, sampleRoutes).get("/v1/ping", { headers: https });
  assert.equal(answer.headers.get(transport), null);
  await sample.stop();
});
