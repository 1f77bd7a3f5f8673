import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import Type from "typebox";
import { pieceBytes } from "../../../server/http/replies/output.ts";
import {
  bytesReply,
  defineRoute,
  encodedReply,
  media,
  reply,
} from "../../../server/http/pipeline/route.ts";
import { startSample, type SampleServer } from "./sample.ts";

const MiB = 1024 * 1024;
const about = { summary: "for tests", tag: "test", source: "test", errors: [] } as const;
const BySize = Type.Object({ size: Type.Integer() });

/** No two pieces are alike, so that a repeated or missing one is detected. */
const textOf = (size: number) => {
  const line = (n: number) => String(n).padStart(8, "0");
  return Array.from({ length: Math.ceil(size / 8) }, (_, n) => line(n))
    .join("")
    .slice(0, size);
};

const textRoute = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/text/{size}",
  auth: "public",
  params: BySize,
  responses: { 200: media("text/plain") },
  handler: ({ params }) => bytesReply(200, "text/plain", `é${textOf(params.size - 2)}`),
});

const bytesRoute = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/bytes/{size}",
  auth: "public",
  params: BySize,
  responses: { 200: media("text/plain") },
  // A turn later, when the response is written outside the server's callback.
  handler: async ({ params }) => {
    await nextTurn();
    return bytesReply(200, "text/plain", Buffer.from(textOf(params.size)));
  },
});

const jsonRoute = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/json/{size}",
  auth: "public",
  params: BySize,
  responses: { 200: Type.Unknown() },
  handler: ({ params }) => encodedReply(200, Buffer.from(`"${textOf(params.size)}"`)),
});

const sharedSize = 16 * MiB;
const shared = Buffer.from(`"${textOf(sharedSize)}"`);

const sharedRoute = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/shared",
  auth: "public",
  responses: { 200: Type.Unknown() },
  handler: () => encodedReply(200, shared, { etag: '"shared"' }),
});

const pingRoute = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/ping",
  auth: "public",
  responses: { 200: Type.Unknown() },
  handler: () => reply(200, "pong"),
});

const routes = [textRoute, bytesRoute, jsonRoute, sharedRoute, pingRoute];

const sizes = [
  pieceBytes - 1,
  pieceBytes,
  pieceBytes + 1,
  2 * pieceBytes,
  3 * pieceBytes + 7,
  5 * MiB,
];

const readers = 24;
let sample: SampleServer;

/** Another body, whose clients read nothing. */
let ignored: SampleServer;
const silent: Socket[] = [];

async function startOwn(t: TestContext): Promise<SampleServer> {
  const own = await startSample({ routes });
  t.after(() => own.stop());
  return own;
}

async function open({ port }: SampleServer, path: string, header = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  // A reset also counts as a close.
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
  return socket;
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error("the expected state was not reached");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("a long response", () => {
  before(async () => {
    [sample, ignored] = await Promise.all([startSample({ routes }), startSample({ routes })]);
  });
  after(async () => {
    for (const socket of silent) socket.destroy();
    await Promise.all([sample.stop(), ignored.stop()]);
  });

  test("uses no memory while its client reads nothing", async () => {
    const start = process.memoryUsage().rss;
    while (silent.length < readers) silent.push(await open(ignored, "/v1/shared"));
    await until(() => ignored.server.inFlight() === readers);
    const grown = process.memoryUsage().rss - start;
    assert.ok(grown < (readers * sharedSize) / 4, `${(grown / MiB).toFixed(0)} MiB more`);
  });

  test("arrives complete, and the connection stays usable", async () => {
    for (const size of sizes) {
      const text = await fetch(`${sample.url}/v1/text/${size}`);
      assert.equal(await text.text(), `é${textOf(size - 2)}`);
      // A strict client knows the end by the length alone; a last chunk would arrive with the next data.
      assert.equal(text.headers.get("content-length"), String(size));
      assert.equal(text.headers.get("transfer-encoding"), null);
      const bytes = await fetch(`${sample.url}/v1/bytes/${size}`);
      assert.equal(bytes.headers.get("content-length"), String(size));
      assert.equal(await bytes.text(), textOf(size));
      const json = await fetch(`${sample.url}/v1/json/${size}`);
      assert.equal(((await json.json()) as { body: string }).body, textOf(size));
    }
  });

  test("reports its length to HEAD", async () => {
    for (const kind of ["text", "bytes"]) {
      const { headers } = await fetch(`${sample.url}/v1/${kind}/${MiB}`, { method: "HEAD" });
      assert.equal(headers.get("content-length"), String(MiB));
    }
  });

  test("closes the connection when the client asked for that", async () => {
    const socket = await open(sample, `/v1/bytes/${5 * MiB}`, "Connection: close\r\n");
    let length = 0;
    socket.on("data", (chunk: Buffer) => (length += chunk.length));
    await once(socket, "close");
    assert.ok(length > 5 * MiB);
  });

  test("lets other requests run between its chunks", async () => {
    const ended: string[] = [];
    const note = (name: string) => () => ended.push(name);
    const answer = await fetch(`${sample.url}/v1/shared`);
    const long = answer.arrayBuffer().then(note("long"));
    const ping = fetch(`${sample.url}/v1/ping`).then(note("ping"));
    await Promise.all([long, ping]);
    assert.deepEqual(ended, ["ping", "long"]);
  });

  test("is released when its client disconnects", async (t) => {
    const own = await startOwn(t);
    const socket = await open(own, "/v1/shared");
    await once(socket, "readable");
    assert.equal(own.server.inFlight(), 1);
    socket.destroy();
    await until(() => own.server.inFlight() === 0);
    assert.equal((await fetch(`${own.url}/v1/ping`)).status, 200);
  });

  test("is completed before a draining server stops", async (t) => {
    const own = await startOwn(t);
    const socket = await open(own, "/v1/shared");
    await once(socket, "readable");
    const closed = own.server.close();
    let length = 0;
    socket.on("data", (chunk: Buffer) => {
      length += chunk.length;
      // Slowly, because the kernel alone would not buffer the rest.
      socket.pause();
      setImmediate(() => socket.resume());
    });
    await Promise.all([closed, once(socket, "close")]);
    assert.ok(length > sharedSize, `${length} bytes of ${sharedSize}`);
  });
});
