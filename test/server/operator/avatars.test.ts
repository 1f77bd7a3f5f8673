import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { countWaiting } from "../../../db/queries/avatars/avatar-reviews.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { formOf, scene } from "../../support/pictures.ts";
import { codeOf, lastSeed } from "../../support/review.ts";
import { app, review, ask, decide, list, member, startsReviewApp } from "./avatars-app.ts";

describe("the review of avatars", () => {
  startsReviewApp();

  describe("records decisions", decisions);
  describe("undoes decisions", () => {
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
  });
  describe("is refused or logged", () => {
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
  });
});

function decisions(): void {
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
