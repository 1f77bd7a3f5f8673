import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { probeRoutes } from "../../../server/app/probe-routes.ts";
import { knownMisreadings } from "../../../server/http/probe/builds.ts";
import { fill, rawRequests } from "../../../server/http/probe/requests.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { startingProbes } from "../../../server/platform/probes.ts";
import { parseResponses, sendRaw } from "../../support/raw-http.ts";
import {
  findProgram,
  proxyKinds,
  startWebProxy,
  type WebProxy,
} from "../../support/web-proxies.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;

const request = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");

const json = "Content-Type: application/json";
const body = '{"name":"x"}';
const ping = request("GET /v1/ping");
const hidden = `Content-Length: ${ping.length}`;
const echo = request("POST /v1/echo", json, `Content-Length: ${body.length}`) + body;
const chunked = request("POST /v1/echo", json, "Transfer-Encoding: chunked");
const chunk = `c\r\n${body}\r\n0\r\n`;
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);

/** Without them HAProxy and Caddy send nothing. */
const probes = probeRoutes(parseConfig({}), () => ({
  ...startingProbes,
  ready: { status: 200, word: "ready" },
}));

describe("a service behind a proxy", () => {
  before(async () => {
    const env = { TRUSTED_PROXIES: "127.0.0.1/32", RATE_LIMIT_FACTOR: "100" };
    sample = await startSample({ routes: [...sampleRoutes, ...probes], env });
  });
  after(() => sample.stop());

  for (const kind of proxyKinds) {
    if (findProgram(kind) === null) {
      process.stderr.write(
        `*** ${kind.name} is not on this machine: nothing is tried behind it ***\n`,
      );
      continue;
    }
    describe(`behind ${kind.name} with the shipped file`, () => {
      let proxy: WebProxy;
      before(async () => {
        proxy = await startWebProxy(kind, [`127.0.0.1:${sample.port}`]);
      });
      after(() => proxy.stop());

      /** Responses that other clients receive over the proxy's connections to the service. */
      const expectOwnAnswers = async () => {
        const ids = Array.from({ length: 40 }, (_, n) => n + 1);
        const answers = await Promise.all(
          ids.map(async (id) => (await fetch(`${proxy.url}/v1/things/${id}`)).json()),
        );
        assert.deepEqual(
          answers.map((answer) => (answer as { body: unknown }).body),
          ids.map((id) => ({ id })),
        );
      };

      test("answers pipelined requests in order", async () => {
        const waiting = request("POST /v1/limited", json, `Content-Length: ${body.length}`) + body;
        const all = waiting + ping + request("GET /v1/names/two/info") + waiting + echo;
        const { responses } = await sendRaw(proxy.port, all, { responses: 5 });
        assert.deepEqual(statuses(responses), [200, 200, 200, 200, 200]);
        const expected = [/limited/, /pong/, /"two"/, /limited/, /"name":"x"/];
        for (const [at, pattern] of expected.entries())
          assert.match(responses[at]?.body ?? "", pattern);
      });

      test("serves a request wherever TCP splits it", async () => {
        const cuts = Array.from({ length: echo.length - 1 }, (_, at) => at + 1);
        const answers = await Promise.all(
          cuts.map((at) => sendInTwo(proxy.port, echo.slice(0, at), echo.slice(at))),
        );
        assert.deepEqual(
          answers
            .map((text, at) => (text.startsWith("HTTP/1.1 200") ? null : [cuts[at], text]))
            .filter((one) => one !== null),
          [],
        );
      });

      test("lets no header without a name hide anything", async () => {
        for (const line of ["GET /v1/ping", "POST /v1/write"]) {
          const text = request(line, json, ": x", hidden) + ping;
          const { responses } = await sendRaw(proxy.port, text, { quietMs: 500 });
          assert.equal(responses.length, 1, line);
          await expectOwnAnswers();
        }
      });

      test("answers a chunked body once", async () => {
        const bodies = {
          plain: `${chunk}\r\n`,
          "with an extension": `c;a=b\r\n${body}\r\n0\r\n\r\n`,
          "with line ends without CR": `c\n${body}\n0\n\n`,
          "with a trailer": `${chunk}X: y\r\n\r\n`,
          "with a request for a trailer": `${chunk}X:${ping}`,
        };
        for (const [what, sent] of Object.entries(bodies)) {
          const { responses, text } = await sendRaw(proxy.port, chunked + sent, { quietMs: 500 });
          assert.doesNotMatch(text, /pong/, what);
          assert.equal(text.split("HTTP/1.1 ").length - 1, 1, `${what}: ${text}`);
          assert.ok(
            what.includes("trailer") || what.includes("CR") || responses[0]?.status === 200,
          );
          await expectOwnAnswers();
        }
      });

      test("serves an absolute target and refuses two hosts", async () => {
        const absolute = request("GET http://x/v1/ping");
        const { responses } = await sendRaw(proxy.port, absolute, { responses: 1 });
        assert.match(responses[0]?.body ?? "", /pong/);
        const twoHosts = await sendRaw(proxy.port, request("GET /v1/ping", "Host: y"));
        assert.match(twoHosts.text, /^HTTP\/1.1 400/);
      });
    });
  }
  describe("a service behind a TCP proxy that shares its connection", () => {
    const known = knownMisreadings() ?? [];
    for (const { name, pieces, outcome } of rawRequests) {
      if (outcome !== "cut" || known.includes(name)) continue;
      test(`the next client has its own answer or none: ${name}`, async () => {
        const socket = connect(sample.port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
        socket.on("error", () => {});
        await once(socket, "connect");
        for (const piece of pieces) {
          if (!socket.destroyed) socket.write(fill(piece, "x"), "latin1");
          await pause(20);
        }
        await readAnswer(socket);
        if (socket.destroyed || socket.readableEnded) return;
        socket.write(request("GET /v1/things/7"));
        const answer = await readAnswer(socket);
        socket.destroy();
        assert.ok(answer === "" || answer.includes('"id":7'), answer);
      });
    }
  });
});

async function sendInTwo(port: number, first: string, second: string): Promise<string> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  await once(socket, "connect");
  socket.write(first);
  await pause(20);
  socket.write(second);
  const [text] = (await once(socket, "data")) as [string];
  socket.destroy();
  return text;
}

/** The received data, once it is a complete response followed by silence, or the connection has ended. */
async function readAnswer(socket: Socket): Promise<string> {
  let text = "";
  const add = (more: string) => (text += more);
  socket.on("data", add);
  for (let quiet = 0; quiet < 3 && !socket.destroyed && !socket.readableEnded;) {
    const before = text.length;
    await pause(25);
    quiet = text.length === before && parseResponses(text).length > 0 ? quiet + 1 : 0;
  }
  socket.off("data", add);
  return text;
}
