import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import Type from "typebox";
import { defineRoute, encodedReply } from "../../../server/http/pipeline/route.ts";
import { eventually } from "../../support/eventually.ts";
import { findProgram, proxyKinds, startWebProxy } from "../../support/web-proxies.ts";
import { fuzzRoutes } from "../../support/fuzz.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

/** Routes that fail or wait on purpose say nothing about input handling. */
const onPurpose = new Set([
  "/v1/bug",
  "/v1/late-bug",
  "/v1/cyclic",
  "/v1/store-failure/{code}",
  "/v1/waits",
]);

const routes = sampleRoutes.filter((route) => !onPurpose.has(route.path));
const seed = Number(process.env["HTTP_FUZZ_SEED"] ?? 20_240_607);

/** The service closes no connection earlier than this: its timer of 10 s ends two to three steps of 4 s later. */
const closingMs = 8_000;
const readme = readFileSync(join(import.meta.dirname, "../../../server/http/README.md"), "utf8");
const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nuWebSockets: 20\r\n\r\nok";

/**
 * A service that closes connections at the worst moment: when a request arrives on one that it could have
 * closed by then. Requests on younger connections are answered.
 */
async function startClosing(): Promise<{ server: Server; port: number; open: Set<Socket> }> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    let idleSince = performance.now();
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    socket.on("data", () => {
      if (performance.now() - idleSince >= closingMs) return void socket.destroy();
      // The others are pending, so each request gets a new connection.
      setTimeout(() => {
        idleSince = performance.now();
        socket.write(answer);
      }, 200);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port, open };
}

/** Longer than the buffers of a connection. */
const longRoute = defineRoute({
  ...{ summary: "for tests", tag: "test", source: "test", errors: [] },
  method: "GET",
  path: "/v1/long",
  auth: "public",
  responses: { 200: Type.Unknown() },
  handler: () => encodedReply(200, Buffer.from(`"${"x".repeat(16 * 1_048_576)}"`)),
});

// Each waits about ten seconds for a timeout of uWebSockets, so they wait at the same time.
describe("connections that time out", { concurrency: true }, () => {
  describe("of a service that closes idle ones", () => {
    let service: Awaited<ReturnType<typeof startClosing>>;
    before(async () => {
      service = await startClosing();
    });
    after(() => {
      service.server.close();
      for (const socket of service.open) socket.destroy();
    });

    for (const kind of proxyKinds) {
      if (findProgram(kind) === null) continue;
      it(`is behind ${kind.name} with the shipped file, which loses no command`, async () => {
        const proxy = await startWebProxy(kind, [`127.0.0.1:${service.port}`]);
        const commands = () =>
          Promise.all(
            ["GET", "POST", "POST", "PATCH", "DELETE", "POST"].map(async (method) => {
              const body = method === "POST" || method === "PATCH" ? { body: "{}" } : {};
              const { status, headers } = await fetch(proxy.url, { method, ...body });
              assert.equal(headers.get("uwebsockets"), null, "the library is not named");
              return status;
            }),
          );
        try {
          assert.deepEqual(await commands(), [200, 200, 200, 200, 200, 200]);
          // Long enough that a pool with default settings keeps connections the service has closed.
          await pause(closingMs + 500);
          assert.deepEqual(await commands(), [200, 200, 200, 200, 200, 200]);
        } finally {
          await proxy.stop();
        }
      });
    }

    it("closes none of its idle connections earlier than the README says", async () => {
      const sample = await startSample({ routes: sampleRoutes });
      const ping = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";
      // Its steps begin at another moment for each of them.
      const idle = Array.from({ length: 8 }, async (_, n) => {
        await pause(n * 500);
        const sentAt = performance.now();
        const { responses, isClosedByServer } = await sendRaw(sample.port, ping);
        assert.deepEqual([responses[0]?.status, isClosedByServer], [200, true]);
        return performance.now() - sentAt;
      });
      const shortest = Math.min(...(await Promise.all(idle)));
      await sample.stop();
      assert.ok(shortest >= closingMs - 50, `${shortest} ms`);
    });

    it("closes later than every proxy whose pool the README sets up", () => {
      const times = [...readme.matchAll(/\b(?:keepalive(?:_timeout)?|idle_timeout:) (\d+)s/g)];
      assert.ok(times.length >= 3);
      for (const [setting, seconds] of times)
        assert.ok(Number(seconds) * 1_000 < closingMs, setting);
      assert.match(readme, /are closed after 8 to 12 s/);
    });

    it("closes every connection after its response when its load balancers need that", async () => {
      const sample = await startSample({ routes: sampleRoutes, env: { KEEP_ALIVE: "false" } });
      const ping = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";
      const { responses, isClosedByServer } = await sendRaw(sample.port, ping);
      await sample.stop();
      assert.equal(responses[0]?.status, 200);
      assert.deepEqual(
        responses[0].headers.filter(([name]) => name === "connection"),
        [["connection", "close"]],
      );
      assert.ok(isClosedByServer);
    });
  });
  describe("with malformed HTTP", () => {
    let sample: SampleServer;
    before(async () => {
      sample = await startSample({ routes, env: { RATE_LIMIT_FACTOR: "0" } });
    });
    after(() => sample.stop());

    it(`random requests get an answer below 500 each (HTTP_FUZZ_SEED=${seed})`, async () => {
      const lobbyToken = sample.deps.tokens.sign("lobby", "1", 60, {
        lobby: "ABCDEF",
        lobby_player: 3,
      });
      const credentials = [
        { Authorization: `Bearer ${sample.token(7)}` },
        { Authorization: `Bearer ${sample.token(8, "ROLE_GUEST")}` },
        { "X-Lobby-Token": lobbyToken },
        { Cookie: `svc_lobby=${lobbyToken}` },
      ];
      const report = await fuzzRoutes(sample.url, routes, {
        runs: 1_000,
        seed,
        credentials,
      });
      const statuses = [...report.statuses.keys()];
      for (const status of [200, 204, 400, 401, 404, 405, 413, 415, 422])
        assert.ok(statuses.includes(status), `no request got ${status}: the requests are too tame`);
    });

    it("bytes that are not HTTP close only their own connection", async () => {
      const garbage = [
        "\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/0.9\r\n\r\n",
        "\r\n\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
      ];
      await Promise.all(
        garbage.map((bytes) => sendRaw(sample.port, bytes, { responses: 1, waitMs: 500 })),
      );
      assert.equal((await fetch(`${sample.url}/v1/ping`)).status, 200);
    });
  });

  it("ends a response with its connection when the client reads nothing for too long", async () => {
    const sample = await startSample({ routes: [longRoute] });
    const socket = connect(sample.port, "127.0.0.1", () =>
      socket.write("GET /v1/long HTTP/1.1\r\nHost: x\r\n\r\n"),
    );
    socket.on("error", () => {});
    const hasFlight = (count: number) => () => sample.server.inFlight() === count;
    await eventually("the response is on its way", hasFlight(1));
    await eventually("the response has ended", hasFlight(0));
    socket.resume();
    await eventually("the connection is closed", () => socket.closed);
    await sample.stop();
  });
});
