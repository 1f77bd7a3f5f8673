import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { enter } from "../../../support/identity.ts";
import {
  app,
  available,
  codeOf,
  emptySelection,
  member,
  namesOf,
  advance,
  type Selection,
  startsSelectionApp,
} from "./selection-app.ts";

describe("the choice of an avatar", () => {
  startsSelectionApp();

  describe("choosing an avatar", () => {
    describe("claims a combination once", () => {
      it("claims a combination with its defaults, and shows it wherever the player is shown", async () => {
        const one = await member();
        const avatar = await one.chosen({ source: "custom", icon: "lorc/acorn" });
        const expected = { source: "custom", icon: "lorc/acorn", color: "amber", bg: "slate" };
        assert.deepEqual(avatar, {
          ...expected,
          border: null,
          upload_id: null,
          updated_at: "2026-03-01T12:00:00+00:00",
        });
        const { player } = (
          await app.client.post("/v1/gateway/login", {
            body: { identifier: (await loginOf(one.id)).email, password: "correct horse 1" },
          })
        ).body as { player: { avatar: unknown; avatar_url: string } };
        assert.deepEqual(player.avatar, expected);
        assert.equal(player.avatar_url, `/v1/players/${one.id}/avatar?v=1`);
        const lobby = await app.client.post("/v1/games/trivia/lobbies", {
          token: one.token,
          body: {
            hostName: "Ada",
            mode: "versus",
            category: "science",
            timer: 30,
            numQuestions: 3,
          },
        });
        const seats = (lobby.body as { lobby: { players: { avatar_url: string }[] } }).lobby
          .players;
        assert.equal(seats[0]?.avatar_url, player.avatar_url);
        assert.match(
          (await one.draw()).text,
          /<desc>Icon by Lorc, game-icons\.net, CC BY 3\.0<\/desc>/,
        );
      });

      it("has one winner among 200 concurrent claims of the same combination", async () => {
        const ids = await rowsOf(
          app.deps.em,
          sql<{ id: number }>`insert into players (name, name_key, is_guest, realm)
        select 'racer' || n, 'racer' || n, false, 'default' from generate_series(1, 200) n returning id`,
        );
        const claim = {
          source: "custom",
          icon: "lorc/anchor",
          color: "red",
          bg: "ice",
          border: "gold",
        };
        const answers = await Promise.all(
          ids.map(async ({ id }) => {
            const roles = ["ROLE_REGISTERED"];
            const token = app.deps.tokens.sign("access", String(id), 600, { roles });
            const ask = () => app.client.patch("/v1/users/@me/avatar", { token, body: claim });
            let answer = await ask();
            // On a busy machine the queue for a connection may time out; such requests are repeated.
            while (answer.status === 503) answer = await ask();
            return answer;
          }),
        );
        const winners = answers.filter(({ status }) => status === 200);
        const losers = answers.filter(({ status }) => status === 409);
        assert.deepEqual([winners.length, losers.length], [1, 199]);
        const { icon, color, bg } = claim;
        for (const loser of losers) {
          assert.equal(codeOf(loser), "avatar:combination_taken");
          assert.deepEqual(loser.body, { error: "combination_taken", icon, color, bg });
        }
        const held = await rowsOf(
          app.deps.em,
          sql<{ n: number }>`select count(*)::int as n from players where avatar_icon = ${icon}`,
        );
        assert.equal(held[0]?.n, 1);
      });

      it("never fails when players claim each other's combination at the same moment", async () => {
        const [a, b] = [await member(), await member()];
        const of = (color: string) => ({ source: "custom", icon: "lorc/axe-swing", color });
        for (let round = 0; round < 5; round++) {
          await a.chosen({ source: null });
          await b.chosen({ source: null });
          await a.chosen(of("red"));
          await b.chosen(of("blue"));
          const both = await Promise.all([a.choose(of("blue")), b.choose(of("red"))]);
          for (const { status, text } of both) assert.ok(status === 200 || status === 409, text);
          assert.ok(
            both.some(({ status }) => status === 409),
            "nobody let go first",
          );
        }
      });
    });
    describe("keeps, releases and refuses", () => {
      it("changes nothing for the same combination, and keeps the border if none is named", async () => {
        const one = await member();
        const claim = { source: "custom", icon: "lorc/bat-wing", color: "sky", bg: "navy" };
        await one.chosen({ ...claim, border: "silver" });
        advance(60_000);
        const again = await one.chosen(claim);
        assert.deepEqual([again.border, again.updated_at], ["silver", "2026-03-01T12:00:00+00:00"]);
        assert.equal(await one.version(), 1, "nothing changed");
        assert.equal((await one.chosen({ ...claim, border: null })).border, null);
        assert.equal(await one.version(), 2);
      });

      it("releases a combination when another one, or none, is chosen", async () => {
        const [a, b] = [await member(), await member()];
        const claim = { source: "custom", icon: "lorc/bat-blade", color: "lime", bg: "plum" };
        await a.chosen(claim);
        assert.equal((await b.choose(claim)).status, 409);
        await a.chosen({ ...claim, color: "teal" });
        await b.chosen(claim);
        const none = await b.chosen({ source: null, icon: null, color: null });
        assert.deepEqual({ ...none, updated_at: "" }, emptySelection);
        await a.chosen(claim);
      });

      it("refuses values outside the palettes and the catalogue, and ignores them where they have no effect", async () => {
        const one = await member();
        const good = { source: "custom", icon: "lorc/acid-blob" };
        const wrong = [
          { source: "custom" },
          { ...good, icon: null },
          { ...good, icon: "skoll/acid-blob" },
          { ...good, icon: "acid-blob" },
          { ...good, icon: "lorc/tarot-13-death" },
          { ...good, icon: `lorc/${"a".repeat(80)}` },
          { ...good, color: "mauve" },
          { ...good, color: "__proto__" },
          { ...good, bg: "amber" },
          { ...good, border: "" },
          { source: "nowhere" },
          { source: "" },
        ];
        for (const body of wrong) {
          const answer = await one.choose(body);
          assert.deepEqual(
            [answer.status, codeOf(answer)],
            [400, "avatar:invalid_option"],
            JSON.stringify(body),
          );
        }
        assert.equal(codeOf(await one.choose({})), "validation:failed");
        assert.equal(codeOf(await one.choose({ source: 7 })), "validation:failed");
        assert.equal(codeOf(await one.choose({ source: "upload" })), "avatar:no_approved_upload");
        assert.equal(codeOf(await one.choose({ source: "acme" })), "avatar:provider_not_linked");
        await one.chosen({ source: null, color: "mauve", bg: "none", icon: "x" });
        assert.equal(await one.version(), 0);
      });

      it("requires an account; a guest may only choose the generated picture", async () => {
        const { access_token: token, player } = await enter(app);
        const choose = (body: unknown) => app.client.patch("/v1/users/@me/avatar", { token, body });
        for (const source of ["custom", "upload", "acme", "nowhere"])
          assert.equal(
            codeOf(await choose({ source, icon: "lorc/ace" })),
            "avatar:guest_forbidden",
          );
        const none = await choose({ source: null });
        assert.deepEqual(
          { ...(none.body as { avatar: Selection }).avatar, updated_at: "" },
          emptySelection,
        );
        assert.equal((await app.client.get(`/v1/players/${player.id}/avatar`)).status, 200);
        assert.equal((await app.client.patch("/v1/users/@me/avatar", { body: {} })).status, 401);
      });
    });
  });
  describe("the list of available icons", () => {
    it("omits combinations of others in any colour, and keeps the caller's own", async () => {
      const before = await available();
      assert.ok(before.total >= 500, `${before.total} icons`);
      assert.equal(before.icons.length + before.taken_count, before.total);
      assert.deepEqual(before.palettes.borders, [
        "gold",
        "silver",
        "bronze",
        "iron",
        "ember",
        "ingot",
      ]);
      assert.deepEqual([before.palettes.colors.length, before.palettes.bgs.length], [18, 12]);
      assert.deepEqual(
        before.icons.find(({ slug }) => slug === "battle-axe"),
        { author: "lorc", slug: "battle-axe", tags: ["battle", "axe"] },
      );
      const [a, b] = [await member(), await member()];
      const claim = { source: "custom", icon: "lorc/battle-axe" };
      await a.chosen(claim);
      const without = await available();
      assert.equal(without.taken_count, before.taken_count + 1);
      assert.ok(!namesOf(without).includes(claim.icon));
      assert.ok(namesOf(await available(`?mine=${a.id}`)).includes(claim.icon));
      assert.ok(!namesOf(await available(`?mine=${b.id}`)).includes(claim.icon));
      await b.chosen({ ...claim, color: "white" });
      const shared = await available(`?mine=${a.id}`);
      assert.ok(!namesOf(shared).includes(claim.icon), "another player holds it too");
      assert.equal(shared.icons.length + shared.taken_count, shared.total);
    });

    it("may be cached for half a minute, and accepts any number as a player id", async () => {
      const answer = await app.client.get("/v1/avatars/available?mine=99999999999");
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("cache-control") ?? "", /^private, max-age=30/);
      assert.equal((await app.client.get("/v1/avatars/available?mine=x")).status, 400);
    });
  });
});

async function loginOf(id: number): Promise<{ email: string }> {
  const rows = await rowsOf(
    app.deps.em,
    sql<{ email: string }>`select email from players where id = ${id}`,
  );
  return { email: rows[0]?.email ?? "" };
}
