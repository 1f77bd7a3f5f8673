import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { avatarModeration } from "../../workers/queues.ts";
import { eventually } from "../support/eventually.ts";
import { moderationScene } from "./moderation-scene.ts";

describe("the moderation of an avatar that cannot be classified", () => {
  const { app, queue, killAll, startWorker, send, waiting, cleanUp } = moderationScene();
  before(() => {
    // No upload waits for a decision, which no worker makes.
    const { deps } = app();
    const { enqueueAndWait } = deps;
    deps.enqueueAndWait = (definition, payload, origin) =>
      enqueueAndWait(definition, payload, origin, 1);
  });

  it("is left to a reviewer when its last attempt fails", async () => {
    await killAll();
    const { id } = await send(3);
    const [waits] = await queue().getWaiting();
    assert.equal(waits?.data["uploadId"], id);
    await waits?.remove();
    const file = (await waiting(id))?.file ?? assert.fail();
    await app().deps.pictureStore.remove(file);
    await queue().add(avatarModeration.name, { uploadId: id, round: 1 }, { attempts: 1 });
    await startWorker();
    await eventually("it is left to a person", async () => (await waiting(id))?.judgedBy != null);
    assert.equal((await waiting(id))?.judgedBy, "unavailable");
  });

  it("is queued once, however long no worker is running", async () => {
    await killAll();
    const { id } = await send(4);
    for (const minutes of [5, 10, 20]) await cleanUp(minutes * 60_000);
    const jobs = await queue().getWaiting();
    assert.deepEqual(
      jobs.map(({ data }) => data["uploadId"]),
      [id],
    );
    // A missing job is queued again.
    await jobs[0]?.remove();
    await cleanUp(30 * 60_000);
    assert.equal((await queue().getWaiting()).length, 1);
  });
});
