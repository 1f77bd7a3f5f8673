import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import Type from "typebox";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { silentLogger, type Logger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { noOutages } from "../../support/operator.ts";
import {
  createNodeServer,
  maxConnections,
  type NodeServer,
} from "../../../server/http/node/server.ts";
import { maxBodyBytes } from "../../../server/http/pipeline/body.ts";
import { defineRoute, reply } from "../../../server/http/pipeline/route.ts";
import { operatorListener } from "../../../server/operator/listener.ts";
import { noRequests } from "../../../server/platform/requests/tracker.ts";

const common = { tag: "Test", source: "OPS-06", auth: "open", errors: [] } as const;
let release = () => {};
const routes = [
  defineRoute({
    ...common,
    method: "GET",
    path: "/echo/{name}",
    summary: "",
    params: Type.Object({ name: Type.String() }),
    responses: { 200: Type.Object({ name: Type.String(), ip: Type.String() }) },
    handler: ({ params, request }) => reply(200, { ...params, ip: request.ip }, [["X-Text", "ä"]]),
  }),
  defineRoute({
    ...common,
    method: "POST",
    path: "/size",
    summary: "",
    body: Type.Object({ text: Type.String() }),
    responses: { 200: Type.Object({ length: Type.Integer() }) },
    handler: ({ body }) => reply(200, { length: body.text.length }),
  }),
  defineRoute({
    ...common,
    method: "GET",
    path: "/slow",
    summary: "",
    responses: { 200: Type.Object({}) },
    handler: async () => {
      await new Promise<void>((done) => (release = done));
      return reply(200, {});
    },
  }),
];

interface Line {
  id: string;
  route?: string;
  status?: number;
}

const lines: Line[] = [];
const recording = (given: object): Logger =>
  ({
    ...silentLogger,
    child: (more: object) => recording({ ...given, ...more }),
    info: (line: object) => void lines.push({ ...given, ...line } as Line),
  }) as unknown as Logger;
const metrics = createMetrics();

function start(): NodeServer {
  const config = parseConfig({ TRUSTED_PROXIES: "127.0.0.1" });
  const stores = { redis: {} as Redis, faults: noFaults, requests: noRequests, tracer: null };
  const deps = { config, clock: systemClock, metrics, ...stores };
  const authorizer = { authorize: () => null, previewForm: () => [], holdsSeat: () => false };
  const listener = operatorListener({ authorizer, deps: {}, outages: noOutages(systemClock) });
  return createNodeServer({ deps, routes, log: recording({}), listener });
}

describe("the pipeline over node:http", () => {
  let server: NodeServer;
  let port = 0;
  let url = "";
  before(async () => {
    server = start();
    port = await server.listen("127.0.0.1", 0);
    url = `http://127.0.0.1:${port}`;
  });
  after(() => server.drain());

  const codeIn = async (answer: Response) =>
    ((await answer.json()) as { flash: { errors: { code: string }[] } }).flash.errors[0]?.code;

  it("keeps a given request id, and makes one otherwise", async () => {
    const given = await fetch(`${url}/echo/a`, { headers: { "X-Request-Id": "given-id-1" } });
    assert.equal(given.headers.get("x-request-id"), "given-id-1");
    const own = await fetch(`${url}/echo/a`, { headers: { "X-Request-Id": "short" } });
    assert.match(own.headers.get("x-request-id") ?? "", /^[a-z0-9]+-[0-9a-f]{8}-\d+$/);
  });

  it("counts clients by the address that a trusted proxy names, or by the proxy's own", async () => {
    const ipOf = async (headers: Record<string, string>) =>
      ((await (await fetch(`${url}/echo/a`, { headers })).json()) as { body: { ip: string } }).body
        .ip;
    assert.equal(await ipOf({ "X-Forwarded-For": "203.0.113.9" }), "203.0.113.9");
    assert.equal(await ipOf({ "X-Forwarded-For": "unknown" }), "127.0.0.1");
  });

  it("answers HEAD with the length of GET, and other methods as HTTP asks", async () => {
    const full = await fetch(`${url}/echo/${encodeURIComponent("a/ä")}`);
    assert.equal(((await full.json()) as { body: { name: string } }).body.name, "a/ä");
    const head = await fetch(`${url}/echo/abc`, { method: "HEAD" });
    assert.equal(await head.text(), "");
    assert.ok(Number(head.headers.get("content-length")) > 100);
    assert.equal(Buffer.from(head.headers.get("x-text") ?? "", "latin1").toString(), "ä");
    const wrong = await fetch(`${url}/echo/a`, { method: "PUT" });
    assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
    const options = await fetch(`${url}/echo/a`, {
      method: "OPTIONS",
      headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "GET" },
    });
    assert.equal(options.status, 204);
    assert.equal(options.headers.get("access-control-allow-origin"), null);
  });

  it("refuses a body over the limit of the route, and closes the connection", async () => {
    const send = (length: number) =>
      fetch(`${url}/size`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text: "x".repeat(length) }),
      });
    assert.equal((await send(1_000)).status, 200);
    const large = await send(maxBodyBytes);
    assert.deepEqual([large.status, large.headers.get("connection")], [413, "close"]);
    assert.equal(await codeIn(large), "request:too_large");
  });

  it("refuses an absolute target", async () => {
    const socket = connect(port, "127.0.0.1");
    socket.end("GET http://elsewhere/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert.match(await textOf(socket), /^HTTP\/1\.1 400 [^]*request:malformed_url/);
  });

  it("writes one line and one count per request, with its route", async () => {
    lines.length = 0;
    await (await fetch(`${url}/echo/secret?x=secret`)).text();
    await (await fetch(`${url}/nowhere`)).text();
    assert.deepEqual(
      lines.map(({ route, status }) => [route, status]),
      [
        ["/echo/{name}", 200],
        ["unmatched", 404],
      ],
    );
    assert.doesNotMatch(JSON.stringify(lines), /secret/);
    const text = await metrics.registry.metrics();
    assert.match(
      text,
      /emberline_http_requests_total\{route="\/echo\/\{name\}",method="GET",status="200"\}/,
    );
  });

  it("records a client that disconnects before its answer as 499", async () => {
    lines.length = 0;
    const socket = await askSlowly(port);
    socket.destroy();
    while (lines.length === 0) await turn();
    assert.equal(lines[0]?.status, 499);
  });

  describe("with connections that another process accepted", () => {
    /** Another server of this process accepts them, and reads `length` bytes before they are taken. */
    async function startTaken(length = 3) {
      const other = start();
      const accepting = createServer({ allowHalfOpen: true, highWaterMark: 1 }, (socket) => {
        socket.once("readable", () => other.take(socket, socket.read(length) as Buffer));
      });
      accepting.listen(0, "127.0.0.1");
      await once(accepting, "listening");
      const address = accepting.address();
      assert.ok(typeof address === "object" && address !== null);
      return { other, accepting, port: address.port };
    }

    it("serves what was read and what follows, and several requests on one of them", async () => {
      const { other, accepting, port: otherPort } = await startTaken();
      const socket = connect(otherPort, "127.0.0.1");
      socket.write("GET /echo/a HTTP/1.1\r\nHost: a\r\n\r\n");
      const [first] = (await once(socket, "data")) as [Buffer];
      assert.match(first.toString(), /^HTTP\/1\.1 200 [^]*"name":"a"/);
      socket.end("GET /echo/b HTTP/1.1\r\nHost: a\r\n\r\n");
      assert.match(await textOf(socket), /^HTTP\/1\.1 200 [^]*"name":"b"/);
      accepting.close();
      await other.drain();
    });

    it("finishes them in a drain, and does not wait for idle ones", async () => {
      const { other, accepting, port: otherPort } = await startTaken();
      const idle = connect(otherPort, "127.0.0.1");
      idle.write("GET /echo/a HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(idle, "data");
      const socket = await askSlowly(otherPort);
      accepting.close();
      const drained = other.drain();
      await once(idle.resume(), "close");
      release();
      assert.match(await textOf(socket), /^HTTP\/1\.1 200 /);
      await drained;
    });

    it("closes those beyond the limit", async () => {
      const { other, accepting, port: otherPort } = await startTaken();
      const sockets = Array.from({ length: maxConnections }, () => connect(otherPort, "127.0.0.1"));
      for (const socket of sockets) {
        socket.write("GET /echo/a HTTP/1.1\r\nHost: a\r\n\r\n");
        await once(socket, "data");
      }
      const last = connect(otherPort, "127.0.0.1");
      last.write("GET /echo/a HTTP/1.1\r\nHost: a\r\n\r\n");
      last.on("error", () => {});
      await once(last.resume(), "close");
      assert.equal(last.bytesRead, 0);
      accepting.close();
      await other.drain();
    });
  });
});

/** Sends a request, and waits until its handler runs. */
async function askSlowly(port: number): Promise<Socket> {
  const idle = () => {};
  release = idle;
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  while (release === idle) await turn();
  return socket;
}

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
