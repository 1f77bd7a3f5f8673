import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  enter,
  password,
  post,
  registerAccount,
  tokenOf,
  uniqueName,
} from "../../../support/identity.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";

let app: App;

const register = (email: string) =>
  post(app, "/v1/users", { email, username: uniqueName(), password });

const login = (identifier: string) => post(app, "/v1/gateway/login", { identifier, password });

/** Spellings of an address that reach one mailbox, from any keyboard or program. */
const spellings: ((local: string) => string)[] = [
  (local) => `${local}＠example.com`,
  (local) => `${local}@ｅｘａｍｐｌｅ．ＣＯＭ`,
  (local) => `${local}@example。com`,
  (local) => `${local}@example｡com.`,
  (local) => `\u202a${local.toUpperCase()}@Example.com\u202c`,
  (local) => `\ufeff ${local}@exam\u00adple.com\u200b`,
  (local) => `${local.slice(0, 3)}\ufe0f${local.slice(3)}@example.com`,
  (local) => `\u00a0${local}﹫example.com\u3000`,
];

describe("email addresses", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("an address in any spelling", () => {
    it("registers, signs in and is returned in its one normal form, to which mail is sent", async () => {
      for (const spell of spellings) {
        const local = uniqueName();
        const normal = `${local}@example.com`;
        const made = await register(spell(local));
        assert.equal(made.status, 201, spell(local));
        assert.equal(made.body.player.email, normal);
        await sentMessage(app.deps, normal, "verify-email");
        for (const again of [normal, spell(local)]) {
          const session = await login(again);
          assert.equal(session.status, 200, again);
          assert.equal(session.body.player.email, normal);
          assert.equal((await register(again)).code, "user:email_taken");
          const { body } = await app.client.post("/v1/users/check", { body: { email: again } });
          assert.deepEqual(body, { email: { available: false } });
        }
        const own = await app.client.get("/v1/users/@me", { token: made.body.access_token });
        assert.equal((own.body as { user: { email: string } }).user.email, normal);
      }
    });

    it("accepts IDN domains in either form", async () => {
      const local = uniqueName();
      const made = await register(`${local}@Bücher.example`);
      assert.equal(made.body.player.email, `${local}@xn--bcher-kva.example`);
      for (const again of [`${local}@bu\u0308cher.EXAMPLE.`, `${local}@XN--BCHER-KVA.example`])
        assert.equal((await login(again)).status, 200, again);
    });

    it("receives codes and links, upgrades a guest and can be the target of a change", async () => {
      const local = uniqueName();
      const normal = `${local}@example.com`;
      const guest = await enter(app);
      const body = { email: `${local}＠example.com`, password };
      const upgraded = await post(app, "/v1/gateway/upgrade", body, tokenOf(guest));
      assert.equal(upgraded.body.player.email, normal);
      const spelled = `\u200f${local}@example。com`;
      await post(app, "/v1/gateway/code/request", { email: spelled });
      const { code } = (await sentMessage(app.deps, normal, "sign-in-code")).content;
      const verified = await post(app, "/v1/gateway/code/verify", { email: spelled, code });
      assert.equal(verified.status, 200);
      await post(app, "/v1/gateway/reset-password/request", { email: spelled });
      assert.ok((await sentMessage(app.deps, normal, "reset-password")).content.links[0]);

      const other = uniqueName();
      const change = (email: string) =>
        app.client.request("PATCH", "/v1/users/@me", {
          body: { email },
          token: verified.body.access_token,
        });
      const changed = await change(`${other}＠example。com`);
      assert.equal(
        (changed.body as { user: { email: string } }).user.email,
        `${other}@example.com`,
      );
      const again = await change(` ${other.toUpperCase()}@EXAMPLE.com`);
      assert.equal((again.body as { user: { email: string } }).user.email, `${other}@example.com`);
      const taken = await registerAccount(app);
      assert.equal((await change(taken.email.replace("@", "＠"))).status, 409);
    });

    it("is stored in its normal form by the mailing list, the contact form and feedback", async () => {
      const local = uniqueName();
      const normal = `${local}@example.com`;
      const email = `${local}＠Example。com`;
      await post(app, "/v1/subscribe", { email });
      await sentMessage(app.deps, normal, "subscribe-verify");
      await post(app, "/v1/leads/contact", {
        fullname: "Ada",
        email,
        discovery: "friend",
        subject: "Hello",
        message: "A long message",
      });
      await post(app, "/v1/leads/feedback", {
        kind: "idea",
        source: "web",
        message: "Hello",
        email,
      });
      for (const table of ["subscribers", "contact_messages", "feedback"] as const) {
        const rows = await rowsOf(
          app.deps.em,
          sql<{ email: string }>`select email from ${sql.table(table)} order by id desc limit 1`,
        );
        assert.deepEqual(rows, [{ email: normal }], table);
      }
    });
  });
  describe("a mailbox shared by two accounts", () => {
    it("is reported once, and the account without it signs in by its name and sets another address", async () => {
      const [kept, lost] = [await registerAccount(app), await registerAccount(app)];
      const { id, username = "" } = lost.session.player;
      const typed = kept.email.replace("@", "＠");
      // As the migration leaves it.
      await app.deps.orm.em
        .fork()
        .nativeUpdate(
          PlayerSchema,
          { id },
          { email: typed, emailKey: null, emailVerifiedAt: null },
        );
      await rowsOf(
        app.deps.em,
        sql`insert into address_collisions (player_id, kept_player_id, address, former_key, created_at)
        values (${id}, ${kept.session.player.id}, ${kept.email}, ${typed}, now())`,
      );
      for (let n = 0; n < 2; n += 1) await maintain({ task: "accounts" }, app.deps);
      const notices = (await messagesTo(app.deps, kept.email)).filter(
        ({ template }) => template === "address-shared",
      );
      assert.equal(notices.length, 1);
      await sentMessage(app.deps, kept.email, "address-shared");

      assert.equal((await login(typed)).body.player.id, kept.session.player.id);
      const own = await login(username);
      assert.deepEqual([own.body.player.id, own.body.player.email], [id, typed]);
      assert.equal(own.body.player.email_verified_at, null);
      const free = `${uniqueName()}@example.com`;
      const changed = await app.client.request("PATCH", "/v1/users/@me", {
        body: { email: free },
        token: own.body.access_token,
      });
      assert.equal(changed.status, 200);
      assert.equal((await login(free)).body.player.id, id);
    });
  });
});
