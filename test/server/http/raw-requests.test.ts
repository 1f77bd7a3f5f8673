import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { buildWarning, knownMisreadings } from "../../../server/http/probe/builds.ts";
import { probe } from "../../../server/http/probe/probe.ts";
import { uwsBuild } from "../../../server/http/uws/uws.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let behindProxy: SampleServer;
const ping = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";

const request = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");

const json = "Content-Type: application/json";
const shown = (results: object[]) => results.map((one) => JSON.stringify(one)).join("\n");

describe("raw requests", () => {
  before(async () => {
    sample = await startSample({ routes: sampleRoutes });
    const env = { TRUSTED_PROXIES: "127.0.0.0/8" };
    behindProxy = await startSample({ routes: sampleRoutes, env, besides: sample });
  });
  after(async () => {
    await behindProxy.stop();
    await sample.stop();
  });

  test("every raw request gets its expected result, except the known misreadings of this build", async () => {
    const results = await probe(new URL(sample.url));
    const misread = results.filter(({ isRight }) => !isRight);
    const known = knownMisreadings();
    assert.ok(known, `${buildWarning()}`);
    assert.deepEqual(misread.map(({ name }) => name).sort(), [...known].sort(), shown(misread));
    assert.ok(results.length > 90);
  });

  test("a uWebSockets build that was never probed is distinguished from the known builds", () => {
    const build = uwsBuild();
    assert.equal(buildWarning(build), null);
    assert.match(buildWarning({ ...build, sha256: "00" }) ?? "", /http:probe.*sha256 00/);
    assert.match(buildWarning({ ...build, version: "20.0.9" }) ?? "", /20\.0\.9/);
  });
  describe("the connection closes after the response", () => {
    const cases: [what: string, request: string, status: number][] = [
      [
        "to a chunked body",
        `${request("POST /v1/echo", json, "Transfer-Encoding: chunked")}c\r\n{"name":"x"}\r\n0\r\n\r\n`,
        200,
      ],
      ["to a write that does not say how long it is", request("POST /v1/write", json), 200],
      ["that has no body", request("DELETE /v1/things/1", "Connection: close"), 204],
      [
        "that is not modified",
        request("GET /v1/tagged", 'If-None-Match: "fixed"', "Connection: close"),
        304,
      ],
      ["to HEAD", request("HEAD /v1/ping", "Connection: close"), 200],
      ["to a preflight", request("OPTIONS /v1/ping", "Connection: close"), 204],
      ["to a path that is not there", request("GET /v1/nowhere", "Connection: close"), 404],
    ];
    for (const [what, text, status] of cases) {
      test(what, async () => {
        const isHead = text.startsWith("HEAD");
        const { responses, isClosedByServer } = await sendRaw(sample.port, text, { isHead });
        assert.deepEqual(
          responses.map((one) => one.status),
          [status],
        );
        assert.ok(isClosedByServer);
      });

      test(`${what}, and a request behind it is not served`, async () => {
        const { text: answer, isClosedByServer } = await sendRaw(sample.port, text + ping);
        assert.doesNotMatch(answer, /pong/);
        assert.ok(isClosedByServer);
      });
    }

    test("to a chunked body whose trailer is a request", async () => {
      const head = request("POST /v1/echo", json, "Transfer-Encoding: chunked");
      for (const trailer of [`X:${ping}`, `X: y\r\n\r\n${ping}`]) {
        const { text, isClosedByServer } = await sendRaw(
          sample.port,
          `${head}c\r\n{"name":"x"}\r\n0\r\n${trailer}`,
        );
        assert.doesNotMatch(text, /pong/);
        assert.ok(isClosedByServer);
      }
    });
  });

  test("the body of a write is not served as a request when a nameless header hides its length", async () => {
    const hidden = `Content-Length: ${ping.length}`;
    const { text, isClosedByServer } = await sendRaw(
      sample.port,
      request("POST /v1/write", json, ": x", hidden) + ping,
    );
    assert.doesNotMatch(text, /pong/);
    assert.ok(isClosedByServer);
  });
  describe("behind our own proxy", () => {
    const forwarded = "X-Forwarded-For: 203.0.113.7";

    test("a connection stays open", async () => {
      const one = request("GET /v1/ping", forwarded);
      const { responses } = await sendRaw(behindProxy.port, one + one, { responses: 2 });
      assert.equal(responses.length, 2);
    });

    test("a connection closes after the response when the proxy does not send the client address", async () => {
      for (const headers of [[], [": x", `Content-Length: ${ping.length}`, forwarded]]) {
        const text = request("GET /v1/ping", ...headers);
        const alone = await sendRaw(behindProxy.port, text);
        assert.equal(alone.responses[0]?.status, 200);
        assert.ok(alone.isClosedByServer);
        const followed = await sendRaw(behindProxy.port, text + ping);
        assert.doesNotMatch(followed.text, /pong/);
        assert.ok(followed.isClosedByServer);
      }
    });
  });
});
