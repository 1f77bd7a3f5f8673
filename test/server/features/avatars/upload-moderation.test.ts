import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { moderateAvatar } from "../../../../workers/processors/avatar-moderation.ts";
import { plain, scene } from "../../../support/pictures.ts";
import {
  app,
  fresh,
  member,
  moderator,
  path,
  nextSeed,
  type Selection,
  startsUploadApp,
  storedUploads,
} from "./upload-app.ts";

describe("the moderation of uploads", () => {
  startsUploadApp();

  describe("moderation", moderation);
});

function moderation(): void {
  it("hides a picture that waits for manual review", async () => {
    const one = await member();
    moderator.answer = { status: 200, body: { verdict: "queued" } };
    const { upload, avatar } = await one.send(await fresh());
    assert.deepEqual([upload.status, upload.url, avatar], ["queued", null, undefined]);
    assert.equal(await one.picture(), null);
    assert.equal((await one.choose({ source: "upload" })).status, 400);
    const failures = [
      { status: 500, body: { verdict: "approved" } },
      { status: 200, body: { verdict: "perhaps" } },
      { status: 200, body: "<html>" },
      { status: 302, body: {} },
    ];
    for (const answer of failures) {
      moderator.answer = answer;
      const { upload: next } = await one.send(await fresh());
      assert.equal(next.status, "queued", JSON.stringify(answer));
    }
  });

  it("rejects with a reason, keeps the avatar, and rejects similar pictures too", async () => {
    const [a, b] = [await member(), await member()];
    const shown = await a.send(await fresh());
    const bad = nextSeed();
    moderator.answer = { status: 200, body: { verdict: "rejected", reason: "No flags, please." } };
    const { upload } = await a.send(await scene(bad).png().toBuffer());
    assert.deepEqual([upload.status, upload.rejection_reason], ["rejected", "No flags, please."]);
    const kept = (await a.choose({ source: "upload" })).body as { avatar: Selection };
    assert.equal(kept.avatar.upload_id, shown.upload.id);
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const asked = moderator.asked.length;
    const alike = scene(bad).resize(90, 70).modulate({ brightness: 1.1 }).jpeg({ quality: 60 });
    const again = await b.send(await alike.toBuffer());
    assert.equal(again.upload.status, "rejected");
    assert.match(again.upload.rejection_reason ?? "", /rejected before/);
    assert.equal(moderator.asked.length, asked, "nobody was asked again");
    assert.equal((await b.send(await fresh())).upload.status, "approved");
    // A picture without detail resembles every other one, so similarity is not significant.
    moderator.answer = { status: 200, body: { verdict: "rejected" } };
    await b.send(await plain(64, 64, "#ffffff").png().toBuffer());
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const other = await b.send(await plain(64, 64, "#f0f0f0").png().toBuffer());
    assert.equal(other.upload.status, "approved");
  });

  it("answers queued when it takes too long, and shows the picture when it is done", async () => {
    const one = await member();
    moderator.answer = null;
    const { enqueueAndWait } = app.deps;
    const waits: number[] = [];
    app.deps.enqueueAndWait = (definition, payload, origin, waitMs) => {
      waits.push(waitMs);
      return enqueueAndWait(definition, payload, origin, 100);
    };
    const { upload } = await one.send(await fresh());
    app.deps.enqueueAndWait = enqueueAndWait;
    assert.equal(upload.status, "queued");
    assert.deepEqual(waits, [5_000], "the request waits for the verdict");
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const [row] = await storedUploads(one.id);
    assert.ok(row);
    // The same job several times at once, as after the death of its worker.
    const jobs = Array.from({ length: 4 }, () =>
      moderateAvatar({ uploadId: row.id, round: 1 }, { ...app.deps, em: app.deps.orm.em.fork() }),
    );
    await Promise.all(jobs);
    moderator.release();
    assert.ok(await one.picture());
    const version = await rowsOf(
      app.deps.em,
      sql<{ v: number }>`select avatar_v as v from players where id = ${one.id}`,
    );
    assert.equal(version[0]?.v, 1, "done twice is done once");
  });

  it("never overrides a later choice or a later upload", async () => {
    const one = await member();
    const held = moderator.next();
    moderator.answer = null;
    const sending = one.send(await fresh());
    await held;
    assert.equal((await one.choose({ source: "custom", icon: "lorc/candle-holder" })).status, 200);
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const [first] = await storedUploads(one.id);
    assert.ok(first);
    await moderateAvatar({ uploadId: first.id, round: 1 }, { ...app.deps });
    moderator.release();
    const late = await sending;
    assert.equal(late.upload.status, "approved");
    assert.equal(await one.picture(), null);
    const chosen = await one.choose({ source: "upload" });
    assert.equal((chosen.body as { avatar: Selection }).avatar.upload_id, first.id);
    assert.ok(await one.picture());
  });

  it("keeps a deselected upload, and shows the generated picture again", async () => {
    const one = await member();
    const generated = await one.draw();
    await one.send(await fresh());
    assert.notEqual(await one.draw(), generated);
    for (let i = 0; i < 2; i++)
      assert.equal((await app.client.delete(path, { token: one.token })).status, 204);
    assert.equal(await one.draw(), generated);
    assert.equal((await storedUploads(one.id)).length, 1);
    await one.choose({ source: "custom", icon: "lorc/candle-skull" });
    await app.client.delete(path, { token: one.token });
    assert.match(await one.draw(), /Icon by/, "another source is none of its business");
  });
}
