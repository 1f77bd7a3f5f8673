import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { maxWaiting } from "../../../../server/platform/batch-writer.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";
import { BatchingRequestTracker } from "../../../../server/platform/requests/tracker.ts";
import { eventually } from "../../../support/eventually.ts";
import { instance } from "../faults/stored-faults.ts";
import { openRequests } from "./kept-requests.ts";

describe("the tracker of requests", () => {
  let requests: Awaited<ReturnType<typeof openRequests>>;
  let tracker: BatchingRequestTracker;
  const ended = (id: string) => ({
    ...{ id, method: "GET", route: "/v1/x", status: 503, code: "server:unavailable" },
    ...{ ms: 12.4, playerId: null, room: null },
  });
  const origin = (requestId: string) => ({ ...noOrigin, requestId });
  const numOf = async (id: string) => (await requests.store.find(id)).requests.length;

  beforeEach(async () => {
    requests = await openRequests();
    const { store, clock } = requests;
    tracker = new BatchingRequestTracker({ store, instance, clock, log: silentLogger, everyMs: 5 });
  });
  afterEach(async () => {
    await tracker.stop();
    await requests.stop();
  });

  it("writes a request with its process, without being asked", async () => {
    tracker.keep(ended("request-1"));
    await eventually("a batch", async () => (await numOf("request-1")) === 1);
    const [kept] = (await requests.store.find("request-1")).requests;
    assert.deepEqual([kept?.ms, kept?.process], [12, `jobs-0@${instance.id}`]);
  });

  it("knows which requests of its process queued work", async () => {
    const [idle, mailing, writing] = [
      origin("request-1"),
      origin("request-2"),
      origin("request-3"),
    ];
    tracker.noteJob(mailing, { queue: "mail", id: "message-1-0" });
    tracker.noteMessage(writing);
    tracker.noteJob(noOrigin, { queue: "maintenance", id: "m" });
    assert.deepEqual(
      [idle, mailing, writing, noOrigin].map((each) => tracker.hasWork(each)),
      [false, true, true, false],
    );
    await tracker.flush();
    assert.equal((await requests.store.find("request-2")).jobs[0]?.id, "message-1-0");
  });

  it("keeps its buffer while Redis is away, drops and counts what exceeds it, and writes it afterwards", async () => {
    await requests.server.kill();
    for (let n = 0; n < maxWaiting + 4; n++) tracker.keep(ended(`request-${n}`));
    await tracker.flush();
    await requests.server.restart();
    const isWritten = async () => (await numOf("request-0").catch(() => 0)) === 1;
    await eventually("a batch", isWritten);
    assert.equal(await numOf(`request-${maxWaiting - 1}`), 1);
    assert.equal(await numOf(`request-${maxWaiting}`), 0);
    // The next batch says how many were dropped.
    tracker.keep(ended("request-later"));
    await tracker.flush();
    assert.equal((await requests.store.find("request-later")).numDropped, 4);
  });
});
