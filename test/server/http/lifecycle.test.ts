import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, test } from "node:test";
import { pino } from "pino";
import { sendRaw } from "../../support/raw-http.ts";
import { knobs } from "./sample-parts.ts";
import { sampleRoutes } from "./sample-routes.ts";
import { startSample, type SampleServer } from "./sample.ts";

let sample: SampleServer;
let lines: string[];
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error("the expected state was not reached");
    await nextTurn();
  }
}

/** A request to the route that waits for its release. */
async function startWaiting(): Promise<{ answer: Promise<Response> }> {
  knobs.release = null;
  const answer = fetch(`${sample.url}/v1/waits`);
  await until(() => knobs.release !== null);
  return { answer };
}

describe("the request life cycle", () => {
  beforeEach(async () => {
    lines = [];
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    sample = await startSample({ routes: sampleRoutes, log: pino({ level: "info" }, destination) });
  });
  afterEach(() => sample.stop());

  describe("a stream", () => {
    test("sends status and headers, then what its owner writes, and reports its end", async () => {
      const closes = knobs.streamCloses;
      const abort = new AbortController();
      const answer = await fetch(`${sample.url}/v1/stream`, { signal: abort.signal });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
      assert.equal(answer.headers.get("x-accel-buffering"), "no");
      assert.match(answer.headers.get("x-request-id") ?? "", /^[A-Za-z0-9._-]{8,64}$/);
      const reader = answer.body?.getReader();
      assert.equal(new TextDecoder().decode((await reader?.read())?.value), "data: hello\n\n");
      assert.equal(sample.server.inFlight(), 0);
      abort.abort();
      await until(() => knobs.streamCloses === closes + 1);
    });

    test("can be ended by its owner", async () => {
      const answer = await fetch(`${sample.url}/v1/stream`);
      knobs.stream?.raw.cork(() => knobs.stream?.raw.end("data: bye\n\n"));
      assert.equal(await answer.text(), "data: hello\n\ndata: bye\n\n");
    });
  });
  describe("draining", draining);

  test("records an aborted request when the client disconnects before its response", async () => {
    knobs.release = null;
    const socket = connect(sample.port, "127.0.0.1", () =>
      socket.write("GET /v1/waits HTTP/1.1\r\nHost: x\r\n\r\n"),
    );
    await until(() => knobs.release !== null);
    socket.destroy();
    await until(() => sample.server.inFlight() === 0);
    (knobs.release as unknown as () => void)();
    assert.equal((await fetch(`${sample.url}/v1/ping`)).status, 200);
    await until(() => lines.some((line) => line.includes('"status":499')));
  });

  test("the log line of a request without a known caller has its address, whenever it ends", async () => {
    const ips = (method: string) =>
      lines
        .map((line) => JSON.parse(line) as { method?: string; ip?: string })
        .filter((line) => line.method === method)
        .map(({ ip }) => ip);
    const socket = connect(sample.port, "127.0.0.1", () =>
      socket.write("POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"),
    );
    await until(() => sample.server.inFlight() === 1);
    await nextTurn();
    socket.destroy();
    await until(() => ips("POST").length === 1);
    await fetch(`${sample.url}/v1/ping`, { method: "OPTIONS" });
    assert.deepEqual([...ips("POST"), ...ips("OPTIONS")], ["127.0.0.1", "127.0.0.1"]);
  });

  test("pipelined requests get their own responses in order, or the connection closes", async () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    // The response to a number is that number; a name takes a turn longer.
    const asked = {
      "/v1/things/1": '"id":1',
      "/v1/names/two/info": '"two"',
      "/v1/things/3": '"id":3',
    };
    const paths = Object.keys(asked) as (keyof typeof asked)[];
    for (const first of paths)
      for (const second of paths)
        for (const third of paths) {
          const order = [first, second, third];
          const sent = order.map(get).join("");
          const { responses, isClosedByServer } = await sendRaw(sample.port, sent, {
            responses: 3,
          });
          for (const [at, { status, body }] of responses.entries()) {
            assert.equal(status, 200);
            assert.ok(body.includes(asked[order[at] ?? first]), `${order.join()} answered ${body}`);
          }
          assert.ok(responses.length === 3 || isClosedByServer, order.join());
        }
    const sent = ["/v1/things/1", "/v1/waits", "/v1/things/3"].map(get).join("");
    const { text, isClosedByServer } = await sendRaw(sample.port, sent);
    knobs.release?.();
    assert.equal(isClosedByServer, true, "the server closes the connection without a response");
    assert.doesNotMatch(text, /"id":3/);
  });

  test("a second exclusive listener on the same port is refused", async () => {
    const other = await startSample({ routes: [], server: { exclusive: true } });
    await assert.rejects(other.server.listen("127.0.0.1", sample.port), /Cannot listen/);
    await other.stop();
  });

  test("a handler that never returns is answered with a timeout after ten seconds", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { answer } = await startWaiting();
    t.mock.timers.tick(9_999);
    assert.equal(sample.server.inFlight(), 1);
    t.mock.timers.tick(1);
    t.mock.timers.reset();
    const { status, headers } = await answer;
    assert.equal(status, 503);
    assert.equal(headers.get("retry-after"), "1");
    knobs.release?.();
    assert.equal((await fetch(`${sample.url}/v1/ping`)).status, 200);
  });
  describe("the log", () => {
    const record = async (path: string, init?: RequestInit) => {
      const answer = await fetch(sample.url + path, init);
      await answer.arrayBuffer();
      const id = answer.headers.get("x-request-id");
      await until(() => lines.some((line) => line.includes(`"${id}"`) && line.includes('"ms"')));
      return lines
        .filter((line) => line.includes(`"${id}"`))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };

    test("has one line per request, with route pattern and player", async () => {
      const [line, ...more] = await record("/v1/as/player?token=secret", {
        headers: { authorization: `Bearer ${sample.token(77)}` },
      });
      assert.equal(more.length, 0);
      const { id, ms, time, pid, hostname, ...rest } = line ?? {};
      assert.ok([id, ms, time, pid, hostname].every((value) => value !== undefined));
      assert.deepEqual(rest, {
        level: 30,
        route: "/v1/as/player",
        method: "GET",
        status: 200,
        player: 77,
      });
    });

    test("names the seat of a request that has one, and the address of an anonymous request", async () => {
      const seat = sample.deps.tokens.sign("lobby", "0", 60, { lobby: "ABCDEF", lobby_player: 5 });
      const callerOf = async (path: string, init?: RequestInit) => {
        const [{ player, seat, ip } = {}] = (await record(path, init)).slice(-1);
        return { player, seat, ip };
      };
      const known = { method: "POST", headers: { "x-lobby-token": seat } };
      assert.deepEqual(await callerOf("/v1/lobbies/ABCDEF/seat", known), {
        player: null,
        seat: 5,
        ip: undefined,
      });
      const nobody = { player: null, seat: undefined, ip: "127.0.0.1" };
      assert.deepEqual(await callerOf("/v1/ping"), nobody);
      assert.deepEqual(await callerOf("/nowhere"), nobody);
    });

    test("has the request id of the client, or else the id sent in the response", async () => {
      const headers = { "x-request-id": "client.id_0-1" };
      const [given] = await record("/v1/ping", { headers });
      assert.equal(given?.["id"], "client.id_0-1");
      const before = Date.now();
      const [own] = await record("/v1/ping");
      assert.match(
        String(own?.["id"]),
        new RegExp(`^${process.pid.toString(36)}-[0-9a-f]{8}-\\d+$`),
      );
      const time = Number(own?.["time"]);
      assert.ok(time >= before && time <= Date.now(), `a line of ${time}, asked at ${before}`);
    });

    test("has the address of a known player whose request is rate-limited or refused", async () => {
      const headers = { authorization: `Bearer ${sample.token(77)}` };
      const callerOf = async (path: string, method: string) => {
        const [{ player, status, ip } = {}] = (await record(path, { method, headers })).slice(-1);
        return { player, status, ip };
      };
      const known = { player: 77, ip: "127.0.0.1" };
      assert.deepEqual(await callerOf("/v1/account-limited", "POST"), { ...known, status: 200 });
      const refused = { player: null, ip: "127.0.0.1", status: 403 };
      assert.deepEqual(await callerOf("/v1/as/guest", "GET"), refused);
    });

    test("omits undeclared paths and unknown methods", async () => {
      const [line] = await record("/v1/secret-in-path");
      assert.equal(line?.["route"], "unmatched");
      await sendRaw(sample.port, "BR\u00a7W /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n", {
        responses: 1,
        waitMs: 300,
      });
      assert.ok(!lines.join("").includes("secret"));
    });

    test("shows the stack trace of an unexpected error", async () => {
      const [failure, line] = await record("/v1/bug");
      assert.equal(failure?.["level"], 50);
      assert.match(JSON.stringify(failure?.["err"]), /sample-writes/);
      assert.equal(line?.["status"], 500);
    });
  });

  test("requests are counted by pattern, method and status", async () => {
    for (const path of ["/v1/things/1", "/v1/things/2", "/nope", "/nope2"])
      await (await fetch(sample.url + path)).arrayBuffer();
    const { values } = await sample.deps.metrics.requests.get();
    const found = values
      .map(({ labels, value }) => `${labels.method} ${labels.route} ${labels.status}: ${value}`)
      .sort();
    assert.deepEqual(found, ["GET /v1/things/{id} 200: 2", "GET unmatched 404: 2"]);
  });
});

function draining(): void {
  test("finishes a request in flight and accepts no new connections", async () => {
    const { answer } = await startWaiting();
    assert.equal(sample.server.inFlight(), 1);
    sample.server.beginDrain();
    await assert.rejects(fetch(`${sample.url}/v1/ping`, { headers: { connection: "close" } }));
    const closed = sample.server.close();
    knobs.release?.();
    assert.equal((await answer).status, 200);
    await closed;
    assert.equal(sample.server.inFlight(), 0);
  });

  test("serves one more request on an open connection and then closes it", async () => {
    const socket = connect(sample.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    sample.server.beginDrain();
    socket.write("GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n");
    const [data] = (await once(socket, "data")) as [Buffer];
    assert.match(data.toString(), /^HTTP\/1.1 200/);
    assert.match(data.toString(), /Connection: close/);
    await once(socket, "close");
  });
}
