import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { after, before, describe, test } from "node:test";
import { createClient, type Client } from "../../support/client.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { codeOf } from "./answers.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let client: Client;
const raw = (head: string) => sendRaw(sample.port, `${head}\r\nHost: x\r\n\r\n`, { responses: 1 });
const statusOf = async (head: string) => (await raw(head)).responses[0]?.status;

describe("routing", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    client = createClient(sample.url, sampleRoutes);
  });
  after(() => sample.stop());

  describe("a path", () => {
    test("that is not declared is 404", async () => {
      for (const path of [
        "/",
        "/v1",
        "/v2/ping",
        "/V1/ping",
        "/v1/ping/more",
        "/v1//ping",
        "/v1/names//info",
      ]) {
        const answer = await client.get(path);
        assert.equal(answer.status, 404, path);
        assert.equal(codeOf(answer), "route:not_found");
      }
    });

    test("may end in one slash, but not in two", async () => {
      assert.equal((await client.get("/v1/ping/")).status, 200);
      assert.equal((await client.get("/v1/things/4/")).status, 200);
      assert.equal(await statusOf("GET /v1/ping// HTTP/1.1"), 404);
    });

    test("is decoded once", async () => {
      assert.deepEqual((await client.get("/v1/names/a%2Fb/info")).body, { name: "a/b" });
      assert.deepEqual((await client.get("/v1/names/%2541/info")).body, { name: "%41" });
      assert.equal((await client.get("/v1/p%69ng")).status, 200);
    });

    test("with a malformed escape is 400", async () => {
      for (const bad of ["%", "%zz", "%ff", "%ED%A0%80"]) {
        const answer = await client.get(`/v1/names/${bad}/info`);
        assert.equal(codeOf(answer), "request:malformed_url", bad);
      }
    });

    test("with an invalid id returns the not-found code of its resource", async () => {
      for (const id of [
        "x",
        "0",
        "-1",
        "1.5",
        "1e3",
        "0x10",
        "007",
        "99999999999999999999",
        "%00",
      ]) {
        const answer = await client.get(`/v1/things/${id}`);
        assert.equal(codeOf(answer), "question:not_found", id);
      }
    });

    test("longer than 3 KiB is 414", async () => {
      const longest = `/v1/ping?${"x".repeat(3_072 - "/v1/ping?".length)}`;
      assert.equal(await statusOf(`GET ${longest} HTTP/1.1`), 200);
      const { responses } = await raw(`GET ${longest}x HTTP/1.1`);
      assert.equal(responses[0]?.status, 414);
      assert.match(responses[0]?.body ?? "", /request:uri_too_long/);
    });
  });
  describe("a method", () => {
    test("that the path does not support is 405 with the supported ones", async () => {
      const answer = await client.post("/v1/things/3");
      assert.equal(codeOf(answer), "route:method_not_allowed");
      assert.equal(answer.headers.get("allow"), "GET, HEAD, DELETE, OPTIONS");
      assert.equal(await statusOf("BREW /v1/ping HTTP/1.1"), 405);
    });

    test("HEAD is answered like GET, without the body", async () => {
      const answer = await client.head("/v1/cached");
      const full = await client.get("/v1/cached");
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("etag"), full.headers.get("etag"));
      const lengthOf = ({ headers }: typeof answer) => headers.get("content-length");
      assert.ok(Number(lengthOf(full)) > 100);
      assert.equal(lengthOf(answer), lengthOf(full));
      const missing = await client.head("/v1/nothing");
      assert.equal(missing.status, 404);
      assert.equal(lengthOf(missing), lengthOf(await client.get("/v1/nothing")));
    });

    test("HEAD and a refused method keep the connection open", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ports = new Set<number>();
      for (const method of ["HEAD", "GET", "HEAD", "POST", "GET"]) {
        const asked = request(`${sample.url}/v1/cached`, { method, agent }).end();
        const [answer] = (await once(asked, "response")) as [IncomingMessage];
        ports.add(asked.socket?.localPort ?? 0);
        await once(answer.resume(), "end");
      }
      agent.destroy();
      assert.equal(ports.size, 1);
    });

    test("HEAD and POST are refused on a stream, and Allow omits them", async () => {
      for (const method of ["HEAD", "POST"]) {
        const answer = await fetch(`${sample.url}/v1/stream`, { method });
        assert.equal(answer.status, 405);
        assert.equal(answer.headers.get("allow"), "GET, OPTIONS");
        await answer.arrayBuffer();
      }
    });

    test("OPTIONS lists the methods of a known path, and is 404 otherwise", async () => {
      const answer = await client.request("OPTIONS", "/v1/ping");
      assert.equal(answer.status, 204);
      assert.equal(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
      assert.equal((await client.request("OPTIONS", "/v1/nothing")).status, 404);
    });
  });

  test("a duplicate route is refused at startup", async () => {
    const twice = sampleRoutes.slice(0, 1);
    await assert.rejects(startSample({ routes: [...twice, ...twice] }), /declared twice/);
  });
});
