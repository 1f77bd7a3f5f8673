import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;

describe("caching", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  test("the ETag is strong and depends only on the body", async () => {
    const first = await client.get("/v1/cached", { headers: { "x-request-id": "first-request" } });
    const second = await client.get("/v1/cached/");
    assert.match(first.headers.get("etag") ?? "", /^"[\w-]{27}"$/);
    assert.equal(first.headers.get("etag"), second.headers.get("etag"));
    assert.equal(first.headers.get("cache-control"), "public, max-age=60");
  });

  test("a known ETag gets 304 without a body", async () => {
    for (const path of ["/v1/cached", "/v1/tagged", "/v1/picture"]) {
      const etag = (await client.get(path)).headers.get("etag") ?? "";
      for (const wanted of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const answer = await client.get(path, { headers: { "if-none-match": wanted } });
        assert.equal(answer.status, 304, `${path} ${wanted}`);
        assert.equal(answer.text, "");
        assert.equal(answer.headers.get("etag"), etag);
        assert.equal(answer.headers.get("cache-control"), "public, max-age=60");
      }
      assert.equal(
        (await client.get(path, { headers: { "if-none-match": '"other"' } })).status,
        200,
      );
      assert.equal((await client.head(path, { headers: { "if-none-match": etag } })).status, 304);
    }
  });

  test("publicly cacheable responses vary by Origin and X-Api-Key", async () => {
    for (const path of ["/v1/cached", "/v1/picture"])
      assert.equal((await client.get(path)).headers.get("vary"), "Origin, X-Api-Key", path);
  });

  test("a response for an authenticated caller is not publicly cacheable", async () => {
    const anonymous = await client.get("/v1/tagged");
    assert.equal(anonymous.headers.get("cache-control"), "public, max-age=60");
    assert.match(anonymous.headers.get("vary") ?? "", /Authorization/);
    const known = await client.get("/v1/tagged", { token: sample.token(3) });
    assert.equal(known.headers.get("cache-control"), "private, no-store");
  });

  test("errors and responses without a policy are not stored", async () => {
    for (const path of ["/v1/ping", "/v1/nothing", "/v1/bug", "/v1/things/x", "/v1/elsewhere"])
      assert.equal((await client.get(path)).headers.get("cache-control"), "no-store", path);
    assert.equal((await client.get("/v1/ping")).headers.get("etag"), null);
  });
});
