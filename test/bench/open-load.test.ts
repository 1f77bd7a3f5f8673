import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { poissonArrivals } from "../../bench/open-load/arrivals.ts";
import { OpenLoadGenerator } from "../../bench/open-load/generator.ts";
import type { OpenRoom, RoomCallbacks } from "../../bench/open-load/links.ts";
import { medianInterval } from "../../bench/report.ts";

const spec = { streams: 2, streamPath: "", streamHeaders: "", command: "" };
const load = { perSecond: 400, seconds: 0.1, seed: 7 };

/** A server that answers and delivers each command as `serve` says; numbers begin with 1. */
function served(serve: (n: number, callbacks: RoomCallbacks) => void): OpenRoom {
  return async (_port, _spec, callbacks) => {
    let n = 0;
    return { send: () => serve(++n, callbacks), close: () => undefined };
  };
}

async function run(serve: (n: number, callbacks: RoomCallbacks) => void) {
  const generator = new OpenLoadGenerator({ settleMs: 50 });
  await generator.open(0, [spec], served(serve));
  return generator.run(load);
}

function deliver(callbacks: RoomCallbacks, n: number): void {
  callbacks.onEvent(0, n);
  callbacks.onEvent(1, n);
}

describe("the open load generator", () => {
  it("sends the same commands for the same seed, at about the requested rate", () => {
    const given = { perSecond: 400, seconds: 10, rooms: 5, seed: 3 };
    const arrivals = [...poissonArrivals(given)];
    assert.deepEqual([...poissonArrivals(given)], arrivals);
    assert.ok(Math.abs(arrivals.length - 4_000) < 200, `${arrivals.length} commands`);
    assert.deepEqual([...new Set(arrivals.map(({ room }) => room))].sort(), [0, 1, 2, 3, 4]);
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
