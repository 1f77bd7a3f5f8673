import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Give } from "../../server/runtime/boot/child.ts";
import { maxWaiting, OperatorListener } from "../../server/runtime/boot/operator-listener.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { startingProbes } from "../../server/platform/probes.ts";
import { freePort } from "../support/free-port.ts";

const request = "GET /operator HTTP/1.1\r\nHost: a\r\n\r\n";

let port: number;
let wakes: PromiseWithResolvers<Give>[];
let woken: PromiseWithResolvers<void>;
let taken: string[];
let listener: OperatorListener;
let probes = startingProbes;
const open: Socket[] = [];

/** Instead of the process: notes what was read, and closes the connection like one that was transferred. */
const give: Give = async (connection, received) => {
  const rest = connection.read() as Buffer | null;
  taken.push(Buffer.concat(rest ? [received, rest] : [received]).toString());
  connection.destroy();
};

async function openConnection(text = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  open.push(socket);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

async function ended(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

const ask = async (text: string) => ended(await openConnection(text));

describe("the operators' address", () => {
  beforeEach(async () => {
    port = await freePort();
    wakes = [];
    taken = [];
    woken = Promise.withResolvers();
    probes = startingProbes;
    listener = new OperatorListener({
      address: `127.0.0.1:${port}`,
      log: silentLogger,
      wake: () => {
        const wake = Promise.withResolvers<Give>();
        wakes.push(wake);
        woken.resolve();
        return wake.promise;
      },
      probes: () => probes,
    });
    await listener.listen();
  });
  afterEach(() => {
    listener.close();
    for (const socket of open.splice(0)) socket.destroy();
  });

  describe("transfers connections", transfers);
  describe("answers probes", () => {
    it("with a status and one word, without the operator process", async () => {
      const answers = await Promise.all([
        ask("GET /live HTTP/1.1\r\nHost: a\r\n\r\n"),
        ask("GET /ready HTTP/1.1\r\nHost: a\r\n\r\n"),
        ask("GET /ready?full=1 HTTP/1.0\r\n\r\n"),
        ask("HEAD /ready HTTP/1.1\r\nHost: a\r\n\r\n"),
      ]);
      const [live, ...ready] = answers;
      assert.match(live, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n\r\nlive$/);
      for (const answer of ready)
        assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n[^]*Content-Length: 8\r\n/);
      assert.deepEqual(
        ready.map((answer) => answer.split("\r\n\r\n")[1]),
        ["starting", "starting", ""],
      );
      assert.equal(wakes.length, 0);
    });

    it("while the process starts, and while the service stops", async () => {
      await openConnection(request);
      await woken.promise;
      probes = { ...startingProbes, ready: { status: 200, word: "ready" } };
      assert.match(await ask("GET /ready HTTP/1.1\r\n\r\n"), / 200 [^]*ready$/);
      listener.beginStop();
      probes = { ...startingProbes, ready: { status: 503, word: "stopping" } };
      assert.match(await ask("GET /ready HTTP/1.1\r\n\r\n"), / 503 [^]*stopping$/);
    });

    it("of these two paths and methods only", async () => {
      const others = ["POST /live HTTP/1.1", "GET /lively HTTP/1.1", "GET /live/x HTTP/1.1"];
      for (const [at, line] of others.entries()) {
        woken = Promise.withResolvers();
        const closed = ask(`${line}\r\n\r\n`);
        await woken.promise;
        wakes[at]?.resolve(give);
        await closed;
      }
      assert.equal(taken.length, others.length);
    });
  });
});

function transfers(): void {
  it("to a process that it starts once for all of them, with what was read", async () => {
    const other = request.replace("GET", "POST");
    const sockets = [await openConnection(request), await openConnection(other)];
    await woken.promise;
    // Both were read before a later connection is answered.
    await ask("GET /live HTTP/1.1\r\n\r\n");
    const closed = sockets.map(ended);
    wakes[0]?.resolve(give);
    await Promise.all(closed);
    assert.equal(wakes.length, 1);
    assert.deepEqual(taken.toSorted(), [request, other]);
  });

  it("whose first line arrives in pieces, or is longer than any of a probe", async () => {
    const inPieces = await openConnection();
    for (const letter of request.slice(0, 20)) {
      inPieces.write(letter);
      await new Promise((done) => setImmediate(done));
    }
    inPieces.write(request.slice(20));
    await woken.promise;
    wakes[0]?.resolve(give);
    await ended(inPieces);
    const long = `GET /${"x".repeat(5_000)}`;
    woken = Promise.withResolvers();
    const endless = await openConnection(long);
    await woken.promise;
    wakes[1]?.resolve(give);
    await ended(endless);
    assert.deepEqual(taken, [request, long]);
  });

  it("again when the process that it starts did not start before", async () => {
    const socket = await openConnection(request);
    await woken.promise;
    const closed = ended(socket);
    wakes[0]?.reject(new Error("it does not start"));
    await closed;
    woken = Promise.withResolvers();
    await openConnection(request);
    await woken.promise;
    assert.equal(wakes.length, 2);
  });

  it("of which no more wait than the process serves at once", async () => {
    for (let n = 0; n < maxWaiting; n++) await openConnection(request);
    await ended(await openConnection(request));
    assert.equal(wakes.length, 1);
  });

  it("but not of a client that ends before its first line", async () => {
    const socket = await openConnection("GET /oper");
    socket.end();
    await ended(socket);
    assert.equal(wakes.length, 0);
  });

  it("no more once the service stops", async () => {
    const waiting = await openConnection(request);
    await woken.promise;
    listener.beginStop();
    await ended(waiting);
    assert.equal(await ask(request), "");
    assert.equal(wakes.length, 1);
  });
}
