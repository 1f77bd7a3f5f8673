import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { codeOf } from "../../support/review.ts";
import { app, review, ask, decide, list, member, startsReviewApp } from "./avatars-app.ts";

describe("the clean-up of pictures", () => {
  startsReviewApp();

  describe("removes unneeded pictures", () => {
    it("keeps the newest, the shown and the last approved picture of each player, and refuses to approve the rest", async () => {
      const one = await member();
      const uploads = [await one.send(), await one.send()];
      const [, second] = uploads;
      assert.ok(second);
      await decide(second.id, "approve");
      for (let i = 0; i < 6; i++) uploads.push(await one.send());
      const before = await filesOf(one.id);
      await cleanUp();
      const kept = (await filesOf(one.id)).filter(({ file }) => file !== null).map(({ id }) => id);
      assert.deepEqual(kept, [second.id, ...uploads.slice(3).map(({ id }) => id)]);
      assert.ok(await one.isPicture());
      const gone = before[0];
      assert.ok(gone?.file);
      assert.equal(await app.deps.pictureStore.read(gone.file), null);
      assert.equal(codeOf(await ask("POST", `/${gone.id}/approve`)), "avatar:picture_removed");
      assert.equal(codeOf(await ask("GET", `/${gone.id}/picture`)), "avatar:picture_removed");
      assert.ok(!(await list("?limit=100")).uploads.some(({ id }) => id === gone.id));
    });

    it("marks a picture as removed only after removing it, not while it is unreadable", async () => {
      const one = await member();
      const { id } = await one.send();
      const [file] = (await filesOf(one.id)).map((row) => row.file);
      assert.ok(file);
      const path = join(app.deps.config.DATA_DIR, "avatars", file.slice(0, 2), file);
      rmSync(path);
      mkdirSync(path);
      assert.equal(codeOf(await ask("GET", `/${id}/picture`)), "server:unavailable");
      rmdirSync(path);
      assert.equal(codeOf(await ask("GET", `/${id}/picture`)), "avatar:picture_removed");
    });

    it("removes rejected pictures after a month, and the pictures of a deleted account", async () => {
      const [a, b] = [await member(), await member()];
      const [rejected, other] = [await a.send(), await b.send()];
      await decide(rejected.id, "reject", { reason: "No." });
      await cleanUp();
      assert.ok((await filesOf(a.id))[0]?.file);
      review.clock.at += 31 * 86_400_000;
      await clear(b);
      await cleanUp();
      assert.deepEqual(await filesOf(a.id), [{ id: rejected.id, file: null }]);
      assert.deepEqual(await filesOf(b.id), [{ id: other.id, file: null }]);
    });

    it("processes players in batches until all are done", async () => {
      const { tidyAvatars } = await import("../../../workers/processors/tidy-avatars.ts");
      const [first, second] = [await member(), await member()];
      await first.send();
      const numUploads = (await second.send()).id;
      const ids = [first.id, second.id];
      for (const one of [first, second]) await clear(one);
      const listRemoved = async () =>
        (await Promise.all(ids.map(filesOf))).map(([upload]) => upload?.file === null);
      const seen = [];
      for (let run = 0; run < numUploads; run++) {
        await tidyAvatars({ ...app.deps, em: app.deps.orm.em.fork() }, 1);
        seen.push((await listRemoved()).join());
      }
      assert.deepEqual([...new Set(seen)], ["false,false", "true,false", "true,true"]);
      await cleanUp();
    });

    it("removes what it can when the picture storage refuses one", async () => {
      const [stuck, other] = [await member(), await member()];
      for (const one of [stuck, other])
        await decide((await one.send()).id, "reject", { reason: "No." });
      const fileOf = async ({ id }: typeof stuck) => (await filesOf(id))[0]?.file ?? null;
      const refused = await fileOf(stuck);
      review.clock.at += 31 * 86_400_000;
      const { remove } = app.deps.pictureStore;
      app.deps.pictureStore.remove = (file) =>
        file === refused
          ? Promise.reject(new Error("no"))
          : remove.call(app.deps.pictureStore, file);
      await cleanUp();
      assert.deepEqual([await fileOf(stuck), await fileOf(other)], [refused, null]);
      app.deps.pictureStore.remove = remove;
      await cleanUp();
      assert.equal(await fileOf(stuck), null);
    });

    it("removes a picture whose upload was refused while the storage was unavailable", async () => {
      const { pictureStore, config } = app.deps;
      const { read, remove } = pictureStore;
      const one = await member();
      pictureStore.read = () => Promise.resolve(null);
      pictureStore.remove = () => Promise.reject(new Error("no"));
      await assert.rejects(one.send());
      Object.assign(pictureStore, { read, remove });
      const [left] = await filesOf(one.id);
      assert.ok(left?.file);
      const path = join(config.DATA_DIR, "avatars", left.file.slice(0, 2), left.file);
      assert.ok(existsSync(path));
      review.clock.at += 11 * 60_000;
      await cleanUp();
      assert.deepEqual([existsSync(path), await filesOf(one.id)], [false, []]);
    });
  });
  describe("keeps pictures that change meanwhile", () => {
    it("keeps a picture that an operator approves meanwhile", async () => {
      const [first, second] = [await member(), await member()];
      const ids = [(await first.send()).id, (await second.send()).id];
      for (const id of ids) await decide(id, "reject", { reason: "No." });
      review.clock.at += 31 * 86_400_000;
      const { pictureStore } = app.deps;
      const { remove } = pictureStore;
      const removed = Promise.withResolvers<void>();
      pictureStore.remove = async (file) => {
        pictureStore.remove = remove;
        await decide(ids[1] ?? 0, "approve");
        removed.resolve();
        return remove.call(pictureStore, file);
      };
      await cleanUp();
      await removed.promise;
      assert.equal((await filesOf(first.id))[0]?.file, null);
      assert.ok((await filesOf(second.id))[0]?.file);
      await second.choose({ source: "upload" });
      assert.ok(await second.isPicture());
    });

    it("keeps a picture that its player switches back to meanwhile", async () => {
      const [first, second] = [await member(), await member()];
      await first.send();
      const [older, newer] = [await second.send(), await second.send()];
      for (const { id } of [older, newer]) await decide(id, "approve");
      for (let i = 0; i < 4; i++) await second.send();
      await clear(first);
      const { pictureStore } = app.deps;
      const { remove } = pictureStore;
      pictureStore.remove = async (file) => {
        pictureStore.remove = remove;
        await decide(newer.id, "reject", { reason: "No." });
        assert.equal((await second.choose({ source: "upload" })).status, 200);
        return remove.call(pictureStore, file);
      };
      await cleanUp();
      assert.equal((await filesOf(first.id))[0]?.file, null);
      assert.ok(await second.isPicture());
    });

    it("refuses to undo a rejection once the picture is removed", async () => {
      const one = await member();
      const { id } = await one.send();
      await decide(id, "approve");
      await decide(id, "reject", { reason: "No." });
      review.clock.at += 31 * 86_400_000;
      await cleanUp();
      assert.equal(codeOf(await ask("POST", `/${id}/undo`)), "avatar:picture_removed");
      assert.equal((await list("?status=rejected")).uploads[0]?.id, id);
    });

    it("queues an upload again whose job was lost, and drops one that was never stored", async () => {
      const one = await member();
      const at = new Date(review.clock.at - 3_600_000);
      const file = (await filesOf((await member()).id))[0]?.file ?? null;
      assert.equal(file, null);
      const { id } = await one.send();
      await rowsOf(
        app.deps.em,
        sql`update avatar_uploads set judged_at = null, judged_by = null, created_at = ${at}
        where id = ${id}`,
      );
      await rowsOf(
        app.deps.em,
        sql`insert into avatar_uploads (player_id, status, file, selection_v, created_at)
        values (${one.id}, 'storing', 'AAAAAAAAAAAAAAAAAAAAAA.webp', 0, ${at})`,
      );
      await cleanUp();
      const deadline = performance.now() + 60_000;
      while (
        (await list("?limit=100")).uploads.find((one) => one.id === id)?.judged_by !== "manual"
      ) {
        assert.ok(performance.now() < deadline, "nobody judged it");
        await new Promise((done) => setTimeout(done, 20));
      }
      assert.deepEqual((await filesOf(one.id)).length, 1);
    });
  });
});

const cleanUp = async () => {
  const { maintain } = await import("../../../workers/processors/maintenance.ts");
  await maintain({ task: "avatars" }, { ...app.deps, em: app.deps.orm.em.fork() });
};

const filesOf = (playerId: number) =>
  rowsOf(
    app.deps.em,
    sql<{ id: number; file: string | null }>`select id, file from avatar_uploads
        where player_id = ${playerId} order by id`,
  );

const clear = ({ id }: { id: number }) =>
  rowsOf(
    app.deps.em,
    sql`update players set purged_at = now(), deleted_at = now() where id = ${id}`,
  );
