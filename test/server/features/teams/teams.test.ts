import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import { post, tally, uniqueName } from "../../../support/identity.ts";
import { app, clock, type Team, base, member, startsTeamsApp } from "./teams-app.ts";

describe("teams", () => {
  startsTeamsApp();

  describe("are founded and left", () => {
    it("are founded, read, joined by code, renamed and left", async () => {
      const [ann, bob, eve] = [await member(), await member(true), await member(true)];
      assert.equal(await ann.own(), null);
      const name = `  Fire ${uniqueName()} `;
      const team = await ann.found(name);
      assert.match(team.join_code, /^[A-HJ-NP-Z2-9]{8}$/);
      assert.deepEqual(
        { ...team, created_at: "" },
        {
          ...{ id: team.id, name: name.trim(), join_code: team.join_code, owner_id: ann.id },
          ...{ num_members: 1, created_at: "" },
        },
      );
      const [start, end] = [team.join_code.slice(0, 4), team.join_code.slice(4).toLowerCase()];
      const joined = await bob.join(` ${start}-${end}\u200e`);
      assert.deepEqual([joined.status, joined.team?.num_members], [200, 2]);
      assert.deepEqual(await ann.own(), joined.team);
      const seen = (await bob.call("GET", `/${team.id}`)).body as {
        team: Team;
        members: { player_id: number }[];
      };
      assert.equal(seen.team.join_code, team.join_code);
      assert.deepEqual(
        seen.members.map(({ player_id }) => player_id),
        [ann.id, bob.id],
      );
      for (const headers of [eve.headers, {}]) {
        const { json, status } = await app.client.get(`${base}/${team.id}`, { headers });
        assert.equal(status, 200);
        assert.doesNotMatch(JSON.stringify(json), /join_code/, "for members only");
      }
      const renamed = await ann.call("PATCH", `/${team.id}`, { name: "Ice of 2026" });
      assert.deepEqual([renamed.status, renamed.team?.name], [200, "Ice of 2026"]);
      assert.equal((await bob.call("POST", "/@me/leave")).status, 204);
      assert.equal(await bob.own(), null);
      assert.equal((await bob.call("POST", "/@me/leave")).code, "team:not_found");
    });

    it("pass to the longest-standing member when the owner leaves, and end with the last one", async () => {
      const [ann, bob, cid] = [await member(), await member(true), await member()];
      const team = await ann.found();
      clock.advance(1_000);
      await bob.join(team.join_code);
      clock.advance(1_000);
      await cid.join(team.join_code);
      await ann.call("POST", "/@me/leave");
      assert.equal((await bob.own())?.owner_id, bob.id);
      await bob.call("POST", "/@me/leave");
      assert.equal((await cid.own())?.owner_id, cid.id);
      // The owner removes itself, which is the same as leaving.
      assert.equal((await cid.call("DELETE", `/${team.id}/members/${cid.id}`)).status, 204);
      assert.equal((await cid.call("GET", `/${team.id}`)).code, "team:not_found");
      assert.equal((await ann.join(team.join_code)).code, "team:not_found");
    });

    it("pass to the longest-standing member with an open account when the owner's account is closed", async () => {
      const [ann, bob, cid, dan] = [await member(), await member(), await member(), await member()];
      const team = await ann.found();
      for (const one of [bob, cid, dan]) {
        clock.advance(1_000);
        await one.join(team.join_code);
      }
      const close = async ({ headers }: typeof ann) =>
        (await app.client.request("DELETE", "/v1/users/@me", { headers })).status;
      assert.equal(await close(bob), 200);
      assert.equal((await cid.own())?.owner_id, ann.id);
      assert.equal(await close(ann), 200);
      assert.equal((await dan.own())?.owner_id, cid.id);
      await cid.call("POST", "/@me/leave");
      assert.equal((await dan.own())?.owner_id, dan.id);
      assert.equal((await dan.call("DELETE", `/${team.id}/members/${ann.id}`)).status, 204);
    });

    it("pass to a new member when every other member's account is closed", async () => {
      const [ann, bob] = [await member(), await member()];
      const team = await ann.found();
      await app.client.request("DELETE", "/v1/users/@me", { headers: ann.headers });
      const joined = await bob.join(team.join_code);
      assert.deepEqual([joined.status, joined.team?.owner_id], [200, bob.id]);
      assert.equal((await bob.call("DELETE", `/${team.id}/members/${ann.id}`)).status, 204);
    });
  });
  describe("refuse invalid requests", () => {
    it("refuse requests that are not allowed", async () => {
      const [ann, bob, cid, eve] = [
        await member(),
        await member(),
        await member(),
        await member(true),
      ];
      const team = await ann.found();
      await bob.join(team.join_code);
      const one = `/${team.id}`;
      const cases: [who: typeof ann, args: [string, string?, unknown?], code: string][] = [
        [ann, ["POST", "", { name: "Another" }], "team:already_member"],
        [bob, ["POST", "", { name: "Another" }], "team:already_member"],
        [cid, ["POST", "", { name: team.name.toUpperCase() }], "team:name_taken"],
        [ann, ["POST", "/join", { join_code: team.join_code }], "team:already_member"],
        [cid, ["POST", "/join", { join_code: "ABCDEFGH" }], "team:not_found"],
        [bob, ["PATCH", one, { name: "Mine now" }], "team:not_owner"],
        [cid, ["PATCH", one, { name: "Mine now" }], "team:not_owner"],
        [bob, ["DELETE", `${one}/members/${ann.id}`], "team:not_owner"],
        [ann, ["DELETE", `${one}/members/${cid.id}`], "player:not_found"],
        [ann, ["DELETE", `/2000000/members/${bob.id}`], "team:not_found"],
        [ann, ["PATCH", "/2000000", { name: "Nobody" }], "team:not_found"],
        [ann, ["GET", "/x"], "team:not_found"],
        [ann, ["GET", "/99999999999"], "team:not_found"],
        [eve, ["POST", "", { name: "Guests" }], "auth:forbidden"],
        [eve, ["PATCH", one, { name: "Guests" }], "auth:forbidden"],
        [eve, ["DELETE", `${one}/members/${bob.id}`], "auth:forbidden"],
        [cid, ["POST", "", { name: "ab" }], "validation:failed"],
        [cid, ["POST", "", { name: "a".repeat(33) }], "validation:failed"],
        [cid, ["POST", "", { name: "  a  " }], "validation:failed"],
        [cid, ["POST", "", { name: "bad\nname" }], "validation:failed"],
        [cid, ["POST", "", { name: "Fi\u200bre" }], "validation:failed"],
        [cid, ["POST", "", { name: "\u2800\u2800\u2800" }], "validation:failed"],
        [cid, ["POST", "", { name: "Fire\u202e" }], "validation:failed"],
        [cid, ["POST", "", { name: "F\u0456re" }], "validation:failed"],
        [ann, ["PATCH", one, { name: "F\u0456re" }], "validation:failed"],
        [cid, ["POST", "", { name: "\u200b\u3164\u2060" }], "validation:failed"],
        [cid, ["POST", "", { name: "a\u200b\u200b" }], "validation:failed"],
        [cid, ["POST", "", { name: "\ufdfa".repeat(32) }], "validation:failed"],
        [cid, ["POST", "/join", {}], "validation:failed"],
      ];
      for (const [who, args, code] of cases)
        assert.equal((await who.call(...args)).code, code, JSON.stringify(args));
      const other = await cid.found();
      const taken = await cid.call("PATCH", `/${other.id}`, { name: team.name.toLowerCase() });
      assert.deepEqual([taken.status, taken.code], [409, "team:name_taken"]);
      assert.equal((await ann.call("PATCH", one, { name: team.name.toUpperCase() })).status, 200);
      assert.equal((await app.client.get(`${base}/@me`)).status, 401);
    });

    it("have names that cannot be taken again in a lookalike spelling", async () => {
      const [ann, bob] = [await member(), await member()];
      const name = uniqueName();
      const { id } = await ann.found(`${name} of Fire`);
      const alike = [
        `  ${name.toUpperCase()}  of\u00a0FIRE `,
        `${name} of Ｆｉｒｅ`,
        `${name}\u3000of Fire`,
        `${name} 0f  Fire`,
        `${name} of Flre`.replace("Flre", "F\u0131re"),
      ];
      for (const other of alike)
        assert.equal((await bob.call("POST", "", { name: other })).code, "team:name_taken", other);
      assert.equal((await ann.call("PATCH", `/${id}`, { name: alike[1] })).status, 200);
      const emoji = `${name} 👩\u200d🚒`;
      assert.equal((await bob.found(emoji)).name, emoji, "kept as it was typed");
    });

    it("hold twenty members and assign each name once, even under concurrent requests", async () => {
      const owner = await member();
      const team = await owner.found();
      const crowd = await Promise.all(Array.from({ length: 24 }, () => member(true)));
      const answers = await Promise.all(
        crowd.map(({ headers }) =>
          post(app, `${base}/join`, { join_code: team.join_code }, headers),
        ),
      );
      assert.deepEqual(tally(answers), { "200": 19, "409 team:full": 5 });
      assert.equal((await owner.own())?.num_members, 20);
      const founders = await Promise.all(Array.from({ length: 6 }, () => member()));
      const name = uniqueName();
      const foundings = await Promise.all(
        founders.map(({ headers }) => post(app, base, { name }, headers)),
      );
      assert.deepEqual(tally(foundings), { "201": 1, "409 team:name_taken": 5 });
      const lone = await member();
      const several = await Promise.all(
        Array.from({ length: 5 }, () => post(app, base, { name: uniqueName() }, lone.headers)),
      );
      assert.deepEqual(tally(several), { "201": 1, "409 team:already_member": 4 });
    });
  });
  describe("end", () => {
    it("end when the accounts of all members are deleted, and release their name", async () => {
      const [ann, bob, cid] = [await member(), await member(), await member()];
      const [unshared, shared] = [await ann.found(), await bob.found()];
      await cid.join(shared.join_code);
      for (const { headers } of [ann, bob])
        await app.client.request("DELETE", "/v1/users/@me", { headers });
      const clear = () => maintain({ task: "accounts" }, app.deps);
      await clear();
      const eve = await member();
      assert.equal((await eve.call("GET", `/${unshared.id}`)).status, 200);
      clock.advance(31 * 86_400_000);
      await clear();
      const later = await member();
      assert.equal((await later.call("GET", `/${unshared.id}`)).code, "team:not_found");
      assert.equal((await later.call("GET", `/${shared.id}`)).team?.num_members, 2);
      await later.found(unshared.name);
    });

    it("refuse a player who no longer exists", async () => {
      const team = await (await member()).found();
      const token = app.deps.tokens.sign("access", "2000000000", 60, {
        roles: ["ROLE_REGISTERED"],
        realm: "default",
        name: "gone",
        fam: "f",
      });
      const headers = { authorization: `Bearer ${token}` };
      const answers = [
        await post(app, base, { name: uniqueName() }, headers),
        await post(app, `${base}/join`, { join_code: team.join_code }, headers),
      ];
      assert.deepEqual(tally(answers), { "401 auth:token_invalid": 2 });
    });
  });
});
