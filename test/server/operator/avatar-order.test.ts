import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { untilOneWaits } from "../../support/locks.ts";
import { member as newMember, startReview, type Review } from "../../support/review.ts";

let review: Review;
const decide: Review["decide"] = (...input) => review.decide(...input);
const member = () => newMember(review.app);
const no = { reason: "No." };

describe("several uploads of one player", () => {
  before(async () => {
    review = await startReview();
  });
  after(() => review.stop());

  /** Uploads a picture whose storage does not finish before `store` is called. */
  const sendSlowly = async (one: Awaited<ReturnType<typeof member>>) => {
    const { pictureStore } = review.app.deps;
    const { write } = pictureStore;
    const [started, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    pictureStore.write = async (...input) => {
      pictureStore.write = write;
      started.resolve();
      await held.promise;
      return write.call(pictureStore, ...input);
    };
    const sent = one.send();
    await started.promise;
    return {
      store: () => {
        held.resolve();
        return sent;
      },
    };
  };

  it("show an approved picture while a newer one is not yet stored", async () => {
    const one = await member();
    const { id } = await one.send();
    const newer = await sendSlowly(one);
    assert.equal((await decide(id, "approve")).is_shown, true);
    const stored = await newer.store();
    assert.equal(
      (await decide(stored.id, "approve")).is_shown,
      true,
      "the player chose nothing since it was sent",
    );
  });

  it("show a newer picture whatever operators decide about the older one", async () => {
    const one = await member();
    const first = await one.send();
    await decide(first.id, "approve");
    const second = await one.send();
    await decide(first.id, "reject", no);
    assert.equal((await decide(second.id, "approve")).is_shown, true);
    const third = await one.send();
    await decide(second.id, "undo");
    assert.equal((await decide(third.id, "approve")).is_shown, true);
    const fourth = await one.send();
    await decide(third.id, "reject", no);
    await one.choose({ source: "custom", icon: "lorc/aura" });
    assert.equal((await decide(fourth.id, "approve")).is_shown, false, "that was a choice");
  });

  it("do not restore a rejected picture when the decision about another is undone", async () => {
    const one = await member();
    const [first, second] = [await one.send(), await one.send()];
    await decide(first.id, "approve");
    await one.choose({ source: "upload" });
    const third = await one.send();
    await decide(second.id, "reject", no);
    assert.equal((await decide(third.id, "approve")).is_shown, true);
    await decide(first.id, "reject", no);
    await decide(third.id, "undo");
    assert.equal(await one.isPicture(), false);
    await decide(first.id, "approve");
    assert.equal(await one.isPicture(), false, "no upload was chosen");
  });

  it("do not restore the picture of a social login that was unlinked meanwhile", async () => {
    const one = await member();
    const { em } = review.app.deps;
    const link = sql`insert into oauth_connections (player_id, provider, subject, linked_at)
      values (${one.id}, 'acme', ${String(one.id)}, now())`;
    await rowsOf(em, link);
    assert.equal((await one.choose({ source: "acme" })).status, 200);
    const { id } = await one.send();
    assert.equal((await decide(id, "approve")).is_shown, true);
    await rowsOf(em, sql`delete from oauth_connections where player_id = ${one.id}`);
    await decide(id, "undo");
    const rows = await rowsOf(
      em,
      sql<{ source: string | null }>`select avatar_source as source from players
        where id = ${one.id}`,
    );
    assert.deepEqual(rows, [{ source: null }]);
  });

  it("do not restore a combination that another player claims at that moment", async () => {
    const [one, other] = [await member(), await member()];
    await one.choose({ source: "custom", icon: "lorc/anchor", color: "teal" });
    const { id } = await one.send();
    await decide(id, "approve");
    await decide(id, "reject", no);
    const { em } = review.app.deps;
    const taking = await em.fork().transactional(async (own) => {
      await rowsOf(
        own,
        sql`update players set avatar_source = 'custom', avatar_icon = u.undo->'choice'->>'icon',
          avatar_color = u.undo->'choice'->>'color', avatar_bg = u.undo->'choice'->>'bg'
          from avatar_uploads u where u.id = ${id} and players.id = ${other.id}`,
      );
      const undone = decide(id, "undo");
      await untilOneWaits(em);
      return { undone };
    });
    assert.equal((await taking.undone).is_shown, true);
    assert.equal(
      (await one.choose({ source: "custom", icon: "lorc/anchor", color: "teal" })).status,
      409,
    );
  });
});
