import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { countWaiting } from "../../../db/queries/avatars/avatar-reviews.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import type { App } from "../../support/app.ts";
import { formOf, scene } from "../../support/pictures.ts";
import {
  codeOf,
  lastSeed,
  member as newMember,
  startReview,
  type Review,
} from "../../support/review.ts";

let review: Review;
let app: App;
const ask: Review["ask"] = (...input) => review.ask(...input);
const decide: Review["decide"] = (...input) => review.decide(...input);
const list: Review["list"] = (...input) => review.list(...input);
const member = () => newMember(app);

describe("avatars under review", () => {
  before(async () => {
    review = await startReview();
    app = review.app;
  });
  after(() => review.stop());

  describe("the review of avatars", reviewAvatars);
  describe("the clean-up of pictures", upkeepPictures);
});

function reviewAvatars(): void {
  describe("records decisions", decides);
  describe("undoes decisions", undoes);
  describe("is refused or logged", refusedOrWrittenDown);
}

function decides(): void {
  it("lists pending pictures, oldest first, in pages, and shows pictures to reviewers only", async () => {
    const one = await member();
    const ids = [(await one.send()).id, (await one.send()).id, (await one.send()).id];
    const first = await list("?limit=2");
    assert.deepEqual(
      first.uploads.map(({ id }) => id),
      ids.slice(0, 2),
    );
    const second = await list(`?status=queued&limit=2&cursor=${first.next}`);
    assert.deepEqual(
      second.uploads.map(({ id, player_id, judged_by }) => [id, player_id, judged_by]),
      [[ids[2], one.id, "manual"]],
    );
    assert.equal(second.next, null);
    assert.equal(await countWaiting(app.deps.em, 100), ids.length);
    assert.equal(await countWaiting(app.deps.em, 2), 2);
    const url = first.uploads[0]?.picture_url ?? "";
    const picture = await review.client.get(url, { token: "token-of-operator" });
    assert.equal(picture.headers.get("content-type"), "image/webp");
    assert.match(picture.headers.get("cache-control") ?? "", /no-store/);
    assert.equal(Buffer.from(picture.bytes.subarray(8, 12)).toString(), "WEBP");
    assert.equal((await review.client.get(url, { token: "token-of-viewer" })).status, 403);
    assert.equal((await review.client.get(url)).status, 401);
    assert.equal(await one.isPicture(), false);
    assert.equal(codeOf(await ask("GET", "?status=storing")), "request:invalid_query");
  });

  it("shows the newest approved picture at once, and an older one only when the player selects it", async () => {
    const one = await member();
    const [older, newest] = [await one.send(), await one.send()];
    assert.equal((await decide(older.id, "approve")).is_shown, false);
    assert.equal(await one.isPicture(), false);
    const approved = await decide(newest.id, "approve", { reason: "fine" });
    assert.deepEqual(
      [approved.status, approved.is_shown, approved.judged_by, approved.can_undo],
      ["approved", true, "operator:the operator", true],
    );
    assert.ok(await one.isPicture());
    assert.ok((await list("?status=approved")).uploads.some(({ id }) => id === newest.id));
  });

  it("does not replace a picture chosen meanwhile with an approved one", async () => {
    const one = await member();
    const { id } = await one.send();
    await one.choose({ source: "custom", icon: "lorc/acorn" });
    assert.equal((await decide(id, "approve")).is_shown, false);
    assert.match(await one.shows(), /Icon by/);
  });

  it("rejects with a reason, hides the shown picture, and can undo both", async () => {
    const one = await member();
    await one.choose({ source: "custom", icon: "lorc/anvil", border: "gold" });
    const generated = await app.client.get(`/v1/players/${one.id}/avatar?fallback`);
    const claimed = await one.shows();
    const { id } = await one.send();
    await decide(id, "approve");
    const shown = await one.shows();
    const rejected = await decide(id, "reject", { reason: "  No logos.  " });
    assert.deepEqual([rejected.status, rejected.rejection_reason], ["rejected", "No logos."]);
    assert.equal(await one.shows(), generated.text);
    const undone = await decide(id, "undo");
    assert.deepEqual([undone.status, undone.is_shown, undone.can_undo], ["approved", true, false]);
    assert.equal(await one.shows(), shown);
    // The previous decision can no longer be undone, but a new one can be made.
    assert.equal(codeOf(await ask("POST", `/${id}/undo`)), "avatar:nothing_to_undo");
    await decide(id, "reject", { reason: "Still no logos." });
    assert.equal((await decide(id, "approve")).status, "approved");
    assert.equal((await decide(id, "undo")).rejection_reason, "Still no logos.");
    const again = await one.send();
    await one.choose({ source: "custom", icon: "lorc/anvil", border: "gold" });
    assert.equal(await one.shows(), claimed);
    assert.equal((await decide(again.id, "approve")).is_shown, false);
  });
}

function undoes(): void {
  it("undoes an approval by showing the previous picture, unless it was changed since", async () => {
    const [a, b] = [await member(), await member()];
    for (const one of [a, b])
      await one.choose({
        source: "custom",
        icon: "lorc/apple-seeds",
        color: one === a ? "red" : "blue",
      });
    const before = await a.shows();
    const [first, second] = [await a.send(), await b.send()];
    for (const { id } of [first, second]) assert.ok((await decide(id, "approve")).is_shown);
    await decide(first.id, "undo");
    assert.equal(await a.shows(), before);
    await b.choose({ source: null });
    const chosen = await b.shows();
    await decide(second.id, "undo");
    assert.equal(await b.shows(), chosen);
  });

  it("hides a picture when its approval is undone, even if the player had switched back to it", async () => {
    for (const isShownAtOnce of [true, false]) {
      const one = await member();
      const { id } = await one.send();
      if (!isShownAtOnce) await one.choose({ source: "custom", icon: "lorc/aura" });
      assert.equal((await decide(id, "approve")).is_shown, isShownAtOnce);
      await one.choose({ source: null });
      await one.choose({ source: "upload" });
      assert.ok(await one.isPicture());
      assert.equal((await decide(id, "undo")).is_shown, false);
      const rows = await rowsOf(
        app.deps.em,
        sql`select avatar_source as source, avatar_v as v from players where id = ${one.id}`,
      );
      assert.deepEqual(rows, [{ source: null, v: 4 }]);
    }
  });

  it("restores a claim with an undone rejection only while no other player has claimed it", async () => {
    const [a, b] = [await member(), await member()];
    const claim = { source: "custom", icon: "lorc/arrow-cluster", color: "teal" };
    await a.choose(claim);
    const { id } = await a.send();
    await decide(id, "approve");
    await decide(id, "reject", { reason: "No." });
    assert.equal((await b.choose(claim)).status, 200);
    assert.equal((await decide(id, "undo")).is_shown, true);
    assert.equal((await a.choose(claim)).status, 409);
  });

  it("rejects pictures similar to a rejected one until the rejection is undone", async () => {
    const [a, b] = [await member(), await member()];
    const { id } = await a.send();
    const same = lastSeed();
    await decide(id, "reject", { reason: "No." });
    const send = async () => {
      const bytes = await scene(same).jpeg({ quality: 50 }).toBuffer();
      const answer = await app.client.post("/v1/users/@me/avatar/upload", {
        token: b.token,
        ...formOf([{ bytes }]),
      });
      return (answer.body as { upload: { status: string } }).upload.status;
    };
    assert.equal(await send(), "rejected");
    await decide(id, "undo");
    assert.equal(await send(), "queued");
  });
}

function refusedOrWrittenDown(): void {
  it("refuses unknown pictures, missing reasons and the viewer role", async () => {
    const { id } = await (await member()).send();
    for (const verb of ["approve", "reject", "undo"]) {
      const body = verb === "reject" ? { reason: "No." } : undefined;
      assert.equal(codeOf(await ask("POST", `/999999/${verb}`, body)), "avatar:upload_not_found");
      assert.equal(codeOf(await ask("POST", `/x/${verb}`, body)), "avatar:upload_not_found");
      assert.equal((await ask("POST", `/${id}/${verb}`, body, "viewer")).status, 403);
    }
    assert.equal(codeOf(await ask("GET", "/999999/picture")), "avatar:upload_not_found");
    for (const body of [{}, { reason: " " }, { reason: "x".repeat(256) }, { reason: 7 }])
      assert.equal(codeOf(await ask("POST", `/${id}/reject`, body)), "validation:failed");
  });

  it("logs the operator, the decision and the reason", async () => {
    const { id } = await (await member()).send();
    await decide(id, "approve");
    await decide(id, "reject", { reason: "A mistake." });
    await decide(id, "undo", { reason: "No mistake." });
    const entries = await rowsOf(
      app.deps.em,
      sql<{ operator: string; action: string; reason: string }>`
        select operator, action, reason from audit_log
        where target = ${`avatar upload ${id}`} order by id`,
    );
    assert.deepEqual(entries, [
      { operator: "the operator", action: "avatar:approve", reason: "" },
      { operator: "the operator", action: "avatar:reject", reason: "A mistake." },
      { operator: "the operator", action: "avatar:undo", reason: "No mistake." },
    ]);
  });

  it("applies a decision once when it is sent many times at once", async () => {
    const one = await member();
    const { id } = await one.send();
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask("POST", `/${id}/approve`)));
    assert.ok(answers.every(({ status }) => status === 200));
    const rows = await rowsOf(
      app.deps.em,
      sql<{ v: number }>`select avatar_v as v from players where id = ${one.id}`,
    );
    assert.equal(rows[0]?.v, 1);
    assert.equal((await decide(id, "undo")).status, "queued");
  });
}

const tidy = async () => {
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

function upkeepPictures(): void {
  describe("removes unneeded pictures", removesWhatNotNeeded);
  describe("keeps pictures that change meanwhile", leavesAloneWhatChanges);
}

function removesWhatNotNeeded(): void {
  it("keeps the newest, the shown and the last approved picture of each player, and refuses to approve the rest", async () => {
    const one = await member();
    const uploads = [await one.send(), await one.send()];
    const [, second] = uploads;
    assert.ok(second);
    await decide(second.id, "approve");
    for (let i = 0; i < 6; i++) uploads.push(await one.send());
    const before = await filesOf(one.id);
    await tidy();
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
    await tidy();
    assert.ok((await filesOf(a.id))[0]?.file);
    review.clock.at += 31 * 86_400_000;
    await clear(b);
    await tidy();
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
    const areGone = async () =>
      (await Promise.all(ids.map(filesOf))).map(([upload]) => upload?.file === null);
    const seen = [];
    for (let run = 0; run < numUploads; run++) {
      await tidyAvatars({ ...app.deps, em: app.deps.orm.em.fork() }, 1);
      seen.push((await areGone()).join());
    }
    assert.deepEqual([...new Set(seen)], ["false,false", "true,false", "true,true"]);
    await tidy();
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
      file === refused ? Promise.reject(new Error("no")) : remove.call(app.deps.pictureStore, file);
    await tidy();
    assert.deepEqual([await fileOf(stuck), await fileOf(other)], [refused, null]);
    app.deps.pictureStore.remove = remove;
    await tidy();
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
    await tidy();
    assert.deepEqual([existsSync(path), await filesOf(one.id)], [false, []]);
  });
}

function leavesAloneWhatChanges(): void {
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
    await tidy();
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
    await tidy();
    assert.equal((await filesOf(first.id))[0]?.file, null);
    assert.ok(await second.isPicture());
  });

  it("refuses to undo a rejection once the picture is removed", async () => {
    const one = await member();
    const { id } = await one.send();
    await decide(id, "approve");
    await decide(id, "reject", { reason: "No." });
    review.clock.at += 31 * 86_400_000;
    await tidy();
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
    await tidy();
    const deadline = performance.now() + 60_000;
    while (
      (await list("?limit=100")).uploads.find((one) => one.id === id)?.judged_by !== "manual"
    ) {
      assert.ok(performance.now() < deadline, "nobody judged it");
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.deepEqual((await filesOf(one.id)).length, 1);
  });
}
