import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import type { Redis } from "ioredis";
import { rowsOf } from "../../../db/queries/rows.ts";
import type { Occurrence } from "../../../server/platform/faults/batch.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createQueues } from "../../../workers/producer.ts";
import { createDatabase } from "../../../server/operator/database.ts";
import { createPlayerService } from "../../../server/features/accounts/domain/player-service.ts";
import { listFaults } from "../../support/faults.ts";
import { undoneRecordsIn } from "../../support/operator.ts";
import { enter, password, post, registerAccount } from "../../support/identity.ts";
import { app, run, refused, audited, startsConsoleApp } from "./console-app.ts";

const login = (identifier: string | undefined, text = password) =>
  post(app, "/v1/gateway/login", { identifier, password: text });

describe("the console", () => {
  startsConsoleApp();

  describe("the commands for accounts", () => {
    it("find an account by id, address or name, and print its state", async () => {
      const { email, session } = await registerAccount(app);
      const { id, name } = session.player;
      const wide = email.replace("@", "＠");
      for (const account of [String(id), ` ${email.toUpperCase()}`, wide, name.toUpperCase()]) {
        const shown = await run("account:show", { account });
        assert.deepEqual([shown["id"], shown["email"], shown["num_sessions"]], [id, email, 1]);
        assert.equal(JSON.stringify(shown).includes("argon2"), false);
      }
      for (const account of ["", "0", "99999999", "99999999999", "nobody", "a@b", "a\u0001"])
        await refused("account:show", { account }, "account:not_found");
    });

    it("list accounts that lost their address to another account", async () => {
      const [kept, lost] = [await registerAccount(app), await registerAccount(app)];
      const [keptId, lostId] = [kept.session.player.id, lost.session.player.id];
      await rowsOf(
        app.deps.em,
        sql`insert into address_collisions (player_id, kept_player_id, address, former_key, created_at)
        values (${lostId}, ${keptId}, ${kept.email}, 'x', now())`,
      );
      const { collisions } = await run("account:collisions", {});
      assert.deepEqual(collisions, [
        {
          player_id: lostId,
          name: lost.session.player.name,
          typed: lost.email,
          address: kept.email,
          kept_player_id: keptId,
          kept_name: kept.session.player.name,
          is_notified: false,
        },
      ]);
    });

    it("unlock an account before its lock ends, with a recorded reason", async () => {
      const { session } = await registerAccount(app);
      const { id, username } = session.player;
      for (let n = 0; n < 5; n += 1) await login(username, "wrong one 1");
      assert.equal((await login(username)).status, 423);
      assert.ok(
        Number((await run("account:show", { account: String(id) }))["locked_seconds"]) > 800,
      );
      await refused("account:unlock", { account: String(id) }, "account:invalid_reason");
      await refused(
        "account:unlock",
        { account: String(id), reason: " " },
        "account:invalid_reason",
      );
      await run("account:unlock", { account: String(id), reason: "called us" });
      assert.equal((await login(username)).status, 200);
      assert.deepEqual(await audited("account:unlock"), [`player ${id}: called us`]);
    });

    it("restore a closed account on every worker, unless its data is deleted", async () => {
      const { email, session } = await registerAccount(app);
      const account = String(session.player.id);
      const reason = "by mistake";
      await refused("account:restore", { account, reason }, "account:not_restorable");
      const token = session.access_token;
      const validate = async () => (await app.client.get("/v1/tokens/validate", { token })).status;
      const becomes = async (status: number) => {
        const deadline = performance.now() + 60_000;
        while ((await validate()) !== status)
          assert.ok(performance.now() < deadline, String(status));
      };
      await app.client.delete("/v1/users/@me", { token });
      await becomes(401);
      assert.equal((await login(email)).status, 401);
      await run("account:restore", { account: email, reason });
      assert.equal((await login(email)).status, 200);
      await becomes(200);
      await rowsOf(
        app.deps.em,
        sql`update players set deleted_at = now(), purged_at = now() where id = ${Number(account)}`,
      );
      await refused("account:restore", { account, reason }, "account:not_restorable");
      const entries = [`player ${account}: ${reason}`];
      assert.deepEqual(await audited("account:restore"), entries);
      assert.deepEqual(await audited("account:restore", "refused"), [...entries, ...entries]);
    });

    it("leave a record of a refusal, without the address that names nobody", async () => {
      const given = { account: "nobody@example.com", reason: "by mistake" };
      await refused("account:unlock", given, "account:not_found");
      assert.deepEqual(await audited("account:unlock", "refused"), [
        "an unknown account: by mistake",
      ]);
    });

    it("restore an account while no other process can be notified", async () => {
      const { session } = await registerAccount(app);
      const { id } = session.player;
      await app.client.delete("/v1/users/@me", { token: session.access_token });
      const away = { publish: () => Promise.reject(new Error("away")) } as unknown as Redis;
      const { config } = app.deps;
      const recorded: Occurrence[] = [];
      const database = createDatabase(config, away, listFaults(recorded));
      try {
        const service = createPlayerService({
          ...{ config, inStores: database.inStores },
          recordUndone: undoneRecordsIn(app.deps.orm),
        });
        const by = { operator: "desk", reason: "by mistake", requestId: "request-1" } as const;
        assert.equal((await service.change(id, "restore", by))["is_deleted"], false);
        assert.equal((await login(session.player.username)).status, 200);
        assert.deepEqual(
          recorded.map(({ kind, place, origin }) => [kind, place, origin.playerId]),
          [["degraded", "account-events", id]],
        );
      } finally {
        await database.close();
      }
    });

    it("end an account's sessions and the guest credentials that could restore them", async () => {
      const { session } = await registerAccount(app);
      await login(session.player.username);
      const reason = "lost phone";
      const ended = await run("account:sign-out", { account: session.player.name, reason });
      assert.equal(ended["num_sessions_ended"], 2);
      const refresh = (token: string) => post(app, "/v1/gateway/refresh", { refresh_token: token });
      assert.equal((await refresh(session.refresh_token)).status, 401);
      const guest = await enter(app);
      await run("account:sign-out", { account: String(guest.player.id), reason });
      assert.equal((await refresh(guest.refresh_token)).status, 401);
      const back = await post(app, "/v1/gateway/guest", { reclaimToken: guest.reclaim_token });
      assert.equal(back.status, 401);
    });
  });
  describe("the commands for realms and operators", () => {
    it("create, list, rename and close a realm, with its keys", async () => {
      const { session } = await registerAccount(app);
      const token = session.access_token;
      await run("realm:create", { slug: "arcade", name: " The arcade ", mode: "shadow" });
      await refused("realm:create", { slug: "arcade", name: "x" }, "realm:exists");
      await refused("realm:create", { slug: "A", name: "x" }, "realm:invalid_slug");
      await refused("realm:create", { slug: "other", name: "x", mode: "y" }, "realm:invalid_mode");
      for (const name of [" ", "\u2800", "Ar\u200bcade", "\u202eArcade"])
        await refused("realm:create", { slug: "other", name }, "realm:invalid_name");
      const made = await app.client.post("/v1/realms/arcade/keys", {
        token,
        body: { name: "x", scopes: ["profile:read"] },
      });
      const { plaintext } = made.body as { plaintext: string };
      const ask = async () =>
        (await app.client.get("/v1/users/@me", { headers: { "x-api-key": plaintext } })).status;
      assert.equal(await ask(), 200);
      const { realms } = (await run("realm:list")) as { realms: Record<string, unknown>[] };
      assert.deepEqual(realms.at(-1), {
        slug: "arcade",
        name: "The arcade",
        mode: "shadow",
        is_active: true,
        frontend_url: null,
        num_keys: 1,
      });
      await run("realm:change", { slug: "arcade", name: "Closed", active: "false" });
      const deadline = performance.now() + 60_000;
      while ((await ask()) !== 401) assert.ok(performance.now() < deadline);
      const { body } = await app.client.get("/v1/realms/arcade");
      assert.deepEqual(body, {
        realm: { slug: "arcade", name: "Closed", mode: "shadow", is_active: false },
      });
      await refused("realm:change", { slug: "nowhere", active: "true" }, "realm:not_found");
      await refused("realm:change", { slug: "default", active: "false" }, "realm:is_default");
      await refused("realm:change", { slug: "arcade", active: "maybe" }, "realm:invalid_active");
      const changes = await audited("realm:change");
      await refused("realm:change", { slug: "arcade" }, "realm:no_fields");
      assert.deepEqual(await audited("realm:change"), changes);
    });

    it("set, clear and remove the branding of a realm", async () => {
      const slug = "gamedata";
      const branding = async () => {
        const answer = await app.client.get(`/v1/realms/${slug}/branding`);
        return (answer.body as { branding: Record<string, unknown> } | undefined)?.branding;
      };
      assert.equal(await branding(), undefined);
      const wrong = {
        primaryColor: "red",
        logoUrl: "javascript:alert(1)",
        supportEmail: "x",
        frontendUrl: "//x",
      };
      for (const [option, value] of Object.entries(wrong))
        await refused("realm:branding", { slug, [option]: value }, "realm:invalid_branding");
      await refused("realm:branding", { slug }, "realm:no_fields");
      const plain = { slug, frontendUrl: "http://play.example" };
      const production = { APP_ENV: "production" };
      await refused("realm:branding", plain, "realm:invalid_branding", production);
      const logo = { slug, logoUrl: "http://play.example/logo.png" };
      await refused("realm:branding", logo, "realm:invalid_branding", production);
      await run("realm:branding", plain);
      await run("realm:branding", {
        slug,
        primaryColor: "#00ff7F",
        frontendUrl: "https://play.example",
      });
      await refused(
        "realm:branding",
        { slug, displayName: "Pl\u2060ay" },
        "realm:invalid_branding",
      );
      await run("realm:branding", { slug, displayName: "Play", primaryColor: "" });
      await run("realm:branding", { slug, supportEmail: " Help＠Example。com " });
      assert.equal((await branding())?.["support_email"], "help@example.com");
      await run("realm:branding", { slug, supportEmail: "" });
      assert.deepEqual(await branding(), {
        display_name: "Play",
        logo_url: null,
        primary_color: null,
        privacy_url: null,
        terms_url: null,
        support_email: null,
        frontend_url: "https://play.example",
      });
      await run("realm:branding", { slug, remove: true });
      assert.equal(await branding(), undefined);
    });

    it("create, list and revoke programs that sign players in", async () => {
      const made = { realm: "default", name: "A program", redirect: "https://a.example/back" };
      for (const redirect of [
        "http://a.example/",
        "https://a.example/#x",
        "javascript:x",
        "",
        "a.b:/",
      ])
        await refused("oauth:client-create", { ...made, redirect }, "oauth:invalid_redirect");
      await refused("oauth:client-create", { ...made, name: " " }, "oauth:invalid_name");
      await refused("oauth:client-create", { ...made, realm: "nowhere" }, "realm:not_found");
      const { client_id: id, client_secret: secret } = await run("oauth:client-create", made);
      assert.match(String(secret), /^[\w-]{43}$/);
      const native = {
        ...made,
        redirect: "com.a:/back,http://127.0.0.1/back",
        public: true,
      } as const;
      assert.equal((await run("oauth:client-create", native))["client_secret"], undefined);
      await run("oauth:client-revoke", { client: String(id) });
      await refused("oauth:client-revoke", { client: String(id) }, "oauth:client_not_found");
      const { clients } = (await run("oauth:client-list")) as {
        clients: Record<string, unknown>[];
      };
      assert.deepEqual(
        clients.map((one) => [one["is_public"], one["is_revoked"]]),
        [
          [false, true],
          [true, false],
        ],
      );
      assert.equal(JSON.stringify(clients).includes(String(secret)), false);
    });

    it("list operators without their tokens", async () => {
      const { token } = await run("operator:create", { name: "ada", role: "viewer" });
      const list = await run("operator:list");
      assert.deepEqual(list, { operators: [{ name: "ada", role: "viewer", is_revoked: false }] });
      assert.equal(JSON.stringify(list).includes(String(token)), false);
      await run("operator:revoke", { name: "ada" });
      assert.deepEqual(await audited("operator:revoke"), ["ada: "]);
    });
  });
  describe("the commands for queues", () => {
    const isPaused = async (name: string) => {
      const queues = createQueues(app.stores.redisUrl, silentLogger);
      try {
        return await queues
          .all()
          .find((queue) => queue.name === name)
          ?.isPaused();
      } finally {
        await queues.close();
      }
    };

    it("pause and resume a queue, each with a recorded reason", async () => {
      const given = { queue: "mail", reason: "the server refuses" };
      assert.deepEqual(await run("queue:pause", given), { queue: "mail", is_paused: true });
      assert.equal(await isPaused("mail"), true);
      assert.deepEqual(await run("queue:resume", given), { queue: "mail", is_paused: false });
      assert.equal(await isPaused("mail"), false);
      for (const action of ["queue:pause", "queue:resume"])
        assert.deepEqual(await audited(action), ["mail: the server refuses"]);
    });

    it("refuse an unknown queue and a missing reason, and change nothing", async () => {
      await refused("queue:pause", { queue: "letters", reason: "x" }, "queue:not_found");
      await refused("queue:pause", { queue: "mail", reason: " " }, "queue:invalid_reason");
      await refused(
        "queue:pause",
        { queue: "mail", reason: "x".repeat(501) },
        "queue:invalid_reason",
      );
      assert.equal(await isPaused("mail"), false);
    });
  });
  describe("the commands for maintenance", () => {
    it("turn it on and off with a recorded reason, and show it", async () => {
      const reason = "new disks";
      const given = { reason, text: "Back at noon.", retryAfter: "120" };
      const { is_on: isOn, since, ...shown } = await run("maintenance:on", given);
      assert.deepEqual([isOn, shown], [true, { text: "Back at noon.", retry_after: 120 }]);
      assert.deepEqual(await run("maintenance:status", {}), { is_on: true, ...shown, since });
      assert.deepEqual(await run("maintenance:off", { reason }), { is_on: false });
      for (const action of ["maintenance:on", "maintenance:off"])
        assert.deepEqual(await audited(action), ["new rooms: new disks"]);
    });

    it("refuse a missing reason, an empty or long text, and a wrong time", async () => {
      const reason = "x";
      await refused("maintenance:on", {}, "maintenance:invalid_reason");
      for (const text of ["  ", "x".repeat(201)])
        await refused("maintenance:on", { reason, text }, "maintenance:invalid_text");
      for (const retryAfter of ["0", "1.5", "soon", "86401"])
        await refused("maintenance:on", { reason, retryAfter }, "maintenance:invalid_retry_after");
      assert.deepEqual(await run("maintenance:status", {}), { is_on: false });
    });
  });
});
