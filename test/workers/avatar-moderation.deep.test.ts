import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { eventually } from "../support/eventually.ts";
import { moderationScene } from "./moderation-scene.ts";

describe("the moderation of an avatar when its job worker is killed", () => {
  const { app, moderator, queue, kill, killAll, startWorker, send, waiting, cleanUp } =
    moderationScene();

  it("is completed once by the next worker, without delaying the request", async () => {
    const first = await startWorker();
    moderator().answer = null;
    const asked = moderator().next();
    const sending = send(1);
    await asked;
    await kill(first);
    const upload = await sending;
    const id = upload.playerId;
    assert.equal(upload.status, "queued");
    moderator().answer = { status: 200, body: { verdict: "approved" } };
    await startWorker();
    const state = async () => {
      const rows = await rowsOf(
        app().deps.em,
        sql<{ status: string; v: number; shown: number | null }>`
        select u.status, p.avatar_v as v, p.avatar_upload_id as shown
        from avatar_uploads u join players p on p.id = u.player_id where p.id = ${id}`,
      );
      return rows[0];
    };
    await eventually("it is judged", async () => (await state())?.status !== "queued");
    assert.deepEqual(await state(), { status: "approved", v: 1, shown: upload.id });
    assert.deepEqual(moderator().asked, [upload.id, upload.id]);
    const drawn = await app().client.get(`/v1/players/${id}/avatar`);
    assert.ok(drawn.text.includes("data:image/webp"));
  });

  it("is left to a reviewer and not started again after one kill too many", async () => {
    await killAll();
    const worker = await startWorker();
    moderator().answer = null;
    const asked = moderator().next();
    const sending = send(2);
    await asked;
    const id = moderator().asked.at(-1) ?? assert.fail();
    await app().deps.redis.hset(`jobs:avatar-moderation:upload-${id}-0`, "stc", 5);
    await kill(worker);
    assert.equal((await sending).status, "queued");
    moderator().answer = { status: 200, body: { verdict: "approved" } };
    await startWorker();
    await eventually("it is left to a person", async () => (await waiting(id))?.judgedBy != null);
    assert.equal((await waiting(id))?.judgedBy, "unavailable");
    assert.equal(moderator().asked.filter((one) => one === id).length, 1);
    const [failed] = await queue().getFailed();
    assert.match(failed?.failedReason ?? "", /stalled/);
    await cleanUp(3 * 60_000);
    assert.deepEqual(await queue().getWaiting(), []);
  });
});
