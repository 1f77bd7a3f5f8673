import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ConnectionShares,
  RequestConnections,
  sharesOf,
} from "../../../../server/platform/postgres/connection-shares.ts";
import { AppError } from "../../../../server/platform/errors.ts";

/** Work that ends on request, and the calls that have started. */
function works() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    started.push(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    return promise;
  };
  const turns = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    ends.get(name)?.();
    await turns();
  };
  return { started, work, end };
}

describe("the shares of a connection pool", () => {
  it("are a third per player and half per address, each with a queue of 256", () => {
    const [player, other] = [
      { active: 2, waiting: 256 },
      { active: 3, waiting: 256 },
    ];
    assert.deepEqual(sharesOf(6), { player, other });
    const least = { active: 1, waiting: 256 };
    assert.deepEqual(sharesOf(1), { player: least, other: least });
  });

  it("limit the connections of a caller without delaying other callers", async () => {
    const { started, work, end } = works();
    const shares = new ConnectionShares({ active: 2, waiting: 5 });
    const all = ["a1", "a2", "a3", "a4", "b1"].map((name) =>
      shares.run(name.charAt(0), work(name)),
    );
    assert.deepEqual(started, ["a1", "a2", "b1"]);
    await end("a2");
    assert.deepEqual(started.slice(3), ["a3"]);
    await end("a3");
    await Promise.all(["a1", "a4", "b1"].map(end));
    await Promise.all(all);
    await Promise.all([shares.run("a", async () => {}), shares.run("a", async () => {})]);
  });

  it("refuse a request when the queue is full, and say when to retry", async () => {
    const { work, end } = works();
    const shares = new ConnectionShares({ active: 1, waiting: 1 });
    const held = [shares.run("a", work("1")), shares.run("a", work("2"))];
    await assert.rejects(
      shares.run("a", work("3")),
      (error) =>
        error instanceof AppError &&
        error.code === "rate_limit:exceeded" &&
        error.detail.params?.["retry_after"] === 1,
    );
    await end("1");
    await end("2");
    await Promise.all(held);
  });

  it("release the connection of failed work to the next request", async () => {
    const shares = new ConnectionShares({ active: 1, waiting: 1 });
    const failed = shares.run("a", () => Promise.reject(new Error("no")));
    const next = shares.run("a", async () => "done");
    await assert.rejects(failed, /no/);
    assert.equal(await next, "done");
  });

  it("grant a request in a transaction a second connection, which would otherwise deadlock", async () => {
    const shares = new ConnectionShares({ active: 1, waiting: 5 });
    const inside = new RequestConnections(shares, "a");
    const outside = new RequestConnections(shares, "a");
    const order: string[] = [];
    await Promise.all([
      inside.transaction(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await inside.statement(async () => void order.push("inner"));
        order.push("outer");
      }),
      outside.statement(async () => void order.push("other")),
    ]);
    assert.deepEqual(order, ["inner", "outer", "other"]);
  });
});
