import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import {
  maxOfList,
  maxOfRequest,
  usualBounds,
} from "../../../../server/platform/requests/store.ts";
import { failed, failedIn, openRequests, queuedJob, startedAt } from "./kept-requests.ts";

type Opened = Awaited<ReturnType<typeof openRequests>>;

describe("the store of requests", () => {
  let requests: Opened | null = null;
  const open = async (bounds?: Parameters<typeof openRequests>[0]) =>
    (requests = await openRequests(bounds));
  afterEach(() => requests?.stop());

  it("finds a request, its jobs and its failures by its id, and those of no other", async () => {
    const { store, write } = await open();
    const ids = Array.from({ length: 500 }, (_, n) => `request-${n}`);
    await write(...ids.map((id, n) => failed(id, n)));
    await write(queuedJob("request-7", 7), failedIn("request-7", "1-00000000000000aa"));
    const found = await store.find("request-7");
    assert.deepEqual(found.requests, [
      {
        ...{ atMs: startedAt + 7_000, method: "POST", status: 503, code: "server:unavailable" },
        ...{ route: "/v1/games/trivia/lobbies/{code}/start", ms: 1_234, playerId: 7 },
        ...{ room: "lobby ABC234", process: "http-0@abcdefghijkl" },
      },
    ]);
    assert.deepEqual(found.jobs, [{ atMs: startedAt + 7_000, queue: "mail", id: "message-1-0" }]);
    assert.deepEqual(found.groups, ["1-00000000000000aa"]);
    for (const id of ["request-", "request-70000", "request-.", "REQUEST-7"])
      assert.deepEqual((await store.find(id)).requests, [], id);
  });

  it("keeps twenty requests and twenty jobs of one id, and counts the others", async () => {
    const { store, write } = await open();
    const some = Array.from({ length: maxOfRequest + 3 }, (_, n) => n);
    await write(...some.map((n) => failed("reused-id", n)));
    await write(...some.map((n) => queuedJob("reused-id", n, `message-${n}-0`)));
    const { requests: kept, jobs, numDropped } = await store.find("reused-id");
    assert.deepEqual([kept.length, jobs.length, numDropped], [maxOfRequest, maxOfRequest, 6]);
  });

  it("finds no request by an id whose first characters are the same, of any length", async () => {
    const { store, write, redis } = await open();
    const ids = ["a".repeat(64), `${"a".repeat(63)}b`];
    for (const [n, id] of ids.entries()) await write(failed(id, n));
    for (const [n, id] of ids.entries())
      assert.deepEqual(
        (await store.find(id)).requests.map(({ atMs }) => atMs),
        [startedAt + 1_000 * n],
      );
    const lists = await redis.keys("jobs:faults:requests:request:*");
    const texts = await Promise.all(lists.map((key) => redis.lrange(key, 0, -1)));
    assert.doesNotMatch(texts.flat().join(), /aaaa/);
  });

  it("removes the oldest first, and says since when it is complete", async () => {
    const { store, write } = await open({ ...usualBounds, maxEntries: 10 });
    await write(...Array.from({ length: 13 }, (_, n) => failed(`request-${n}`, n)));
    const isKept = async (n: number) => (await store.find(`request-${n}`)).requests.length === 1;
    assert.deepEqual(
      await Promise.all(Array.from({ length: 13 }, (_, n) => isKept(n))),
      Array.from({ length: 13 }, (_, n) => n >= 3),
    );
    assert.equal((await store.find("request-0")).olderThanMs, startedAt + 2_000);
  });

  it("keeps a request for 24 hours, also while nothing is written", async () => {
    const { store, write, clock, redis } = await open();
    await write(failed("request-1", 0), queuedJob("request-1", 0));
    clock.at = startedAt + usualBounds.keptMs - 1;
    assert.equal((await store.find("request-1")).requests.length, 1);
    clock.at = startedAt + usualBounds.keptMs;
    const { requests: kept, jobs, olderThanMs } = await store.find("request-1");
    assert.deepEqual([kept, jobs, olderThanMs], [[], [], startedAt]);
    await write(failed("request-2", usualBounds.keptMs / 1_000));
    assert.equal((await redis.keys("jobs:faults:requests:request:*")).length, 1);
    assert.deepEqual(await redis.keys("jobs:faults:requests:job:*"), []);
  });

  it("counts a batch once that is written again", async () => {
    const { store } = await open();
    const batch = { instance: "one", seq: 1, numDropped: 2, entries: [failed("request-1", 0)] };
    await store.write(batch);
    await store.write(batch);
    const { requests: kept, numDropped } = await store.find("request-1");
    assert.deepEqual([kept.length, numDropped], [1, 2]);
  });

  it("bounds what a client can put into one list by choosing ids", async () => {
    const { store, write, redis } = await open();
    await write(failed("request-1", 0));
    const [list = ""] = await redis.keys("jobs:faults:requests:request:*");
    const others = Array.from({ length: maxOfList }, (_, n) => `chosen-${n} ${startedAt} []`);
    await redis.rpush(list, ...others);
    await write(failed("request-1", 1));
    assert.equal(await redis.llen(list), maxOfList + 1);
    assert.equal((await store.find("request-1")).numDropped, 1);
  });
});
