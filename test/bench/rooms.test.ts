import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { medianInterval } from "../../bench/report.ts";
import { openHttpRoom } from "../../bench/rooms/http-link.ts";
import { RoomLoad } from "../../bench/rooms/generator.ts";
import type { OpenRoom, RoomCallbacks } from "../../bench/rooms/links.ts";

const spec = { streams: 2, streamPath: "", streamHeaders: "", command: "" };
const load = { perSecond: 400, seconds: 0.1, seed: 7 };

/** A server that answers and delivers each command as `serve` says; numbers begin with 1. */
function served(serve: (n: number, callbacks: RoomCallbacks) => void): OpenRoom {
  return async (_port, _spec, callbacks) => {
    let n = 0;
    return { send: () => serve(++n, callbacks) };
  };
}

async function run(serve: (n: number, callbacks: RoomCallbacks) => void) {
  const generator = new RoomLoad({ settleMs: 50 });
  await generator.open(0, [spec], served(serve));
  return generator.run(load);
}

function deliver(callbacks: RoomCallbacks, n: number): void {
  callbacks.onEvent(0, n);
  callbacks.onEvent(1, n);
}

describe("the load of rooms", () => {
  it("sends the same commands to the same rooms for the same seed", async () => {
    const sentWith = async (seed: number): Promise<number[]> => {
      const sent: number[] = [];
      const generator = new RoomLoad({ settleMs: 0 });
      const openRoom: OpenRoom = async (room) => ({ send: () => sent.push(room) });
      const specs = [0, 1, 2].map((port) => ({ ...spec, streams: 0, port }));
      await generator.open(0, specs, openRoom);
      await generator.run({ ...load, seed });
      return sent;
    };
    const sent = await sentWith(3);
    assert.deepEqual(await sentWith(3), sent);
    assert.notDeepEqual(await sentWith(4), sent);
    assert.deepEqual([...new Set(sent)].sort(), [0, 1, 2]);
  });

  it("measures each command until its answer and until the last of its deliveries", async () => {
    const result = await run((n, callbacks) => {
      callbacks.onAnswer(true);
      deliver(callbacks, n);
    });
    assert.equal(result.answers.count, result.commands);
    assert.equal(result.lastDeliveries.count, result.commands);
    const { refused, lost, doubled, disordered, closed } = result;
    assert.deepEqual(
      { refused, lost, doubled, disordered, closed },
      { refused: 0, lost: 0, doubled: 0, disordered: 0, closed: 0 },
    );
  });

  it("counts the time a command waited before it was sent", async () => {
    const result = await run((n, callbacks) => {
      const until = performance.now() + 10;
      while (performance.now() < until);
      callbacks.onAnswer(true);
      deliver(callbacks, n);
    });
    // Each command takes ten milliseconds and one arrives every 2.5 ms: the last ones are hundreds of
    // milliseconds late.
    assert.ok(result.answers.maxMs > 100, `${result.answers.maxMs} ms`);
  });

  it("sends the next command on a new connection when the server has closed an idle one", async () => {
    const closed: Promise<unknown>[] = [];
    const server = createServer((socket) => {
      closed.push(once(socket, "close"));
      socket.once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const answers: boolean[] = [];
    let numClosed = 0;
    let onAnswered = () => {};
    const callbacks: RoomCallbacks = {
      onEvent: () => undefined,
      onClosed: () => void (numClosed += 1),
      onAnswer(isOk) {
        answers.push(isOk);
        onAnswered();
      },
    };
    const command = "POST / HTTP/1.1\r\nHost: bench\r\n\r\n";
    const { send } = await openHttpRoom(port, { ...spec, streams: 0, command }, callbacks);
    for (let n = 0; n < 3; n++) {
      await new Promise<void>((resolve) => {
        onAnswered = resolve;
        send();
      });
      await closed[n];
    }
    server.close();
    assert.deepEqual(answers, [true, true, true]);
    assert.equal(numClosed, 0);
  });

  it("detects lost, duplicate and misordered deliveries, refusals and closed streams", async () => {
    const result = await run((n, callbacks) => {
      callbacks.onAnswer(n !== 2);
      if (n === 3) callbacks.onEvent(0, n);
      else deliver(callbacks, n);
      if (n === 5) callbacks.onEvent(1, n);
      if (n === 6) callbacks.onClosed();
    });
    const { refused, lost, doubled, disordered, closed } = result;
    assert.deepEqual(
      { refused, lost, doubled, disordered, closed },
      { refused: 1, lost: 1, doubled: 1, disordered: 1, closed: 1 },
    );
  });
});

describe("the confidence interval of a median", () => {
  it("lies between the third lowest and the third highest of twelve rounds", () => {
    const rounds = [12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6];
    assert.deepEqual(medianInterval(rounds), [3, 10]);
  });

  it("is left out when there are too few rounds for 90 % confidence", () => {
    assert.equal(medianInterval([1, 2, 3, 4]), null);
    assert.deepEqual(medianInterval([1, 2, 3, 4, 5]), [1, 5]);
  });
});
