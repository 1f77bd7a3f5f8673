import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { errorOf } from "./answers.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;

describe("responses", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  describe("the response envelope", () => {
    test("contains version, status, environment and request", async () => {
      const [from, since] = [Date.now(), performance.now()];
      const { json } = await client.get("/v1/names/a%20b/info?x=1");
      const seconds = (performance.now() - since) / 1_000;
      const { version, elapsed, timestamp, ...rest } = json as Record<string, unknown>;
      assert.match(String(version), /^\d+\.\d+\.\d+$/);
      const at = Date.parse(String(timestamp));
      assert.ok(at >= from - 1_000 && at <= Date.now() + 1_000, String(timestamp));
      assert.ok(Number(elapsed) <= seconds + 0.001, `${String(elapsed)} of ${seconds} s`);
      assert.deepEqual(rest, {
        code: 200,
        status: "OK",
        env: "test",
        debug: false,
        meta: { method: "GET", path: "/v1/names/a%20b/info" },
        body: { name: "a b" },
      });
    });

    test("has no body member when there is no payload", async () => {
      const { status, json } = await client.post("/v1/write");
      assert.equal(status, 200);
      assert.ok(!("body" in (json as object)));
    });

    test("is absent from 204, which has no bytes and no length", async () => {
      const answer = await client.delete("/v1/things/3");
      assert.equal(answer.status, 204);
      assert.equal(answer.text, "");
      assert.equal(answer.headers.get("content-length"), null);
    });

    test("leaves encoded bytes unchanged", async () => {
      assert.deepEqual((await client.get("/v1/tagged")).body, ["é"]);
    });

    test("remains valid JSON for every path", async () => {
      const { status, json } = await client.get('/v1/"quoted\\"/%22');
      assert.equal(status, 404);
      assert.match((json as { meta: { path: string } }).meta.path, /quoted/);
    });
  });
  describe("headers of every response", () => {
    test("repeat a well-formed request id and replace any other", async () => {
      const given = { "x-request-id": "client.id_1-2" };
      assert.equal(
        (await client.get("/v1/ping", { headers: given })).headers.get("x-request-id"),
        "client.id_1-2",
      );
      const bad = await client.get("/v1/ping", { headers: { "x-request-id": "short" } });
      const other = await client.get("/nowhere");
      assert.notEqual(bad.headers.get("x-request-id"), "short");
      assert.notEqual(bad.headers.get("x-request-id"), other.headers.get("x-request-id"));
    });

    test("are never split by a line break in a value", async () => {
      const { status, headers } = await client.get("/v1/elsewhere");
      assert.equal(status, 302);
      assert.equal(headers.get("set-cookie"), null);
      assert.equal(headers.get("x-evil"), null);
      assert.equal(headers.get("x-extra"), "oneX-Evil: 1");
    });

    test("restrict what an SVG may do", async () => {
      const { headers, text } = await client.get("/v1/picture");
      assert.equal(text, "<svg/>");
      assert.equal(
        headers.get("content-security-policy"),
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'",
      );
    });
  });
  describe("an internal error", () => {
    for (const path of ["/v1/bug", "/v1/late-bug", "/v1/cyclic"])
      test(`${path} answers server:error and tells nothing`, async () => {
        const answer = await client.get(path);
        assert.equal(answer.status, 500);
        assert.deepEqual(errorOf(answer), {
          code: "server:error",
          message: "Something went wrong on our side.",
        });
      });

    // Connection failure, deadlock, serialization failure.
    for (const cause of ["ECONNREFUSED", "40P01", "40001"])
      test(`of a store, such as ${cause}, answers 503 and says when to come back`, async () => {
        const answer = await client.get(`/v1/store-failure/${cause}`);
        assert.equal(answer.status, 503);
        assert.equal(answer.headers.get("retry-after"), "1");
        assert.deepEqual(errorOf(answer).params, { retry_after: 1 });
      });

    test("shows its cause only in debug mode", async () => {
      const debugging = await startSample({ routes: sampleRoutes, env: { APP_DEBUG: "true" } });
      try {
        const answer = await createClient(debugging.url, sampleRoutes).get("/v1/bug");
        assert.deepEqual(errorOf(answer).params, { detail: "Error: secret inside" });
      } finally {
        await debugging.stop();
      }
    });
  });

  test("each request has its own fork of the entity manager, created once", async () => {
    const first = (await client.get("/v1/em")).body as { isSame: boolean; fork: number };
    const second = (await client.get("/v1/em")).body as { isSame: boolean; fork: number };
    assert.ok(first.isSame && second.isSame);
    assert.notEqual(first.fork, second.fork);
  });
});
