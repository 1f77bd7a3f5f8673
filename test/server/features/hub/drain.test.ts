import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createHttpServer, type HttpServer } from "../../../../server/http/uws/server.ts";
import type { Hub } from "../../../../server/sse/delivery/hub.ts";
import { openStream, type EventStream } from "../../../support/event-stream.ts";
import { freePort } from "../../../support/free-port.ts";
import { startSample, type SampleServer } from "../../http/sample.ts";
import { createLobbyLog, type LobbyLog } from "../../sse/lobby-log.ts";
import { allSeatsTaken, hubOf, lobbyHubRoutes } from "./hub-of-sample.ts";

const code = "RLLAAA";
const topic = `/games/trivia/lobby/${code}`;
const numStreams = 40;

interface Worker {
  server: HttpServer;
  hub: Hub;
}

let sample: SampleServer;
let log: LobbyLog;
const workers: Worker[] = [];
const streams: EventStream[] = [];

/** Another process of the same service, from the kernel's point of view: it listens on the same port. */
async function startWorker(port: number): Promise<Worker> {
  const hub = hubOf(sample, log, { limits: { minDrainRetryMs: 10, maxDrainRetryMs: 50 } });
  const deps = { ...sample.deps, hub, rooms: allSeatsTaken } as unknown as typeof sample.deps;
  const server = createHttpServer({ deps, routes: lobbyHubRoutes, log: silentLogger });
  const worker = { server, hub };
  workers.push(worker);
  await server.listen("127.0.0.1", port);
  return worker;
}

/** Drains like a worker that stops. */
async function stopWorker({ server, hub }: Worker): Promise<void> {
  server.beginDrain();
  await hub.drain(300);
  await server.close();
  workers.splice(
    workers.findIndex((one) => one.server === server),
    1,
  );
}

describe("streams during a rolling restart", () => {
  before(async () => {
    // Provides Redis, configuration and tokens; its own port is not used.
    sample = await startSample({ routes: [] });
    log = createLobbyLog(sample.store.url);
  });
  after(async () => {
    for (const stream of streams) stream.close();
    for (const { server, hub } of workers) {
      await hub.drain(0);
      await server.close();
    }
    log.close();
    await sample.stop();
  });

  test("workers are replaced one by one under load, and no stream misses or repeats an event or is refused", async () => {
    const port = await freePort();
    const [first, second] = [await startWorker(port), await startWorker(port)];
    const token = (seat: number) =>
      sample.deps.tokens.sign("hub", "1", 600, {
        subscribe: [topic],
        lobby: code,
        lobby_player: seat,
      });
    const url = `http://127.0.0.1:${port}/v1/hub?topic=${topic}`;
    for (let seat = 1; seat <= numStreams; seat++)
      streams.push(openStream(url, { token: token(seat), retryMs: 20 }));
    await Promise.all(
      streams.map((stream) => stream.waitFor((frame) => frame.event === "lobby.snapshot", "start")),
    );
    let isOver = false;
    const publishing = (async () => {
      while (!isOver) {
        await log.publish(code, ["lobby.answer", {}], ["lobby.answer", {}]);
        await delay(5);
      }
      return log.publish(code, ["lobby.answer", {}]);
    })();
    await stopWorker(first);
    const third = await startWorker(port);
    await stopWorker(second);
    isOver = true;
    const final = await publishing;
    await Promise.all(
      streams.map((stream) => stream.waitFor((frame) => frame.id === String(final), "the last")),
    );
    for (const [n, stream] of streams.entries()) {
      assert.deepEqual(stream.refusals, [], `stream ${n}`);
      const seqs = stream.frames.map((frame) => Number(frame.id));
      assert.deepEqual(
        seqs,
        Array.from({ length: final + 1 - (seqs[0] ?? 0) }, (_, i) => (seqs[0] ?? 0) + i),
        `stream ${n}`,
      );
      const snapshots = stream.frames.filter((frame) => frame.event === "lobby.snapshot");
      assert.equal(snapshots.length, 1, `stream ${n}`);
      assert.ok(stream.connections() >= 2, `stream ${n} has moved`);
    }
    assert.ok(!third.hub.isDraining);
  });
});
