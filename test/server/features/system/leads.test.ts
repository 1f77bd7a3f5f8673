import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, registerAccount, tokenOf } from "../../../support/identity.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { sentMessage } from "../../../support/messages.ts";

let app: App;
const inbox = "desk@example.com";

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  app.client.post(path, { body, headers });

const newest = async (table: "contact_messages" | "feedback") => {
  const query = sql<Record<string, unknown>>`select * from ${sql.table(table)} order by id desc`;
  return (await rowsOf(app.deps.em, query))[0];
};

describe("messages to the operators", () => {
  before(async () => {
    app = await startApp({ env: { OPERATOR_INBOX: inbox } });
  });
  after(() => app.stop());

  describe("a text field of a form", () => {
    it("requires a visible character", async () => {
      for (const message of ["\u2800".repeat(20), "\u200b".repeat(20), "\u3164 \u2060".repeat(9)]) {
        const fields = { kind: "idea", source: "web", message };
        const answer = await post("/v1/leads/feedback", fields);
        assert.equal(answer.status, 422, JSON.stringify(message));
      }
    });
  });
  describe("POST /v1/leads/contact", () => {
    const contact = {
      fullname: " Ada <b>Lovelace</b> ",
      email: "ada@example.com",
      discovery: "friend",
      subject: "Hello\r\nBcc: eve@example.com",
      message: "First line.\n<script>alert(1)</script>\n{fullname}",
    };

    it("stores the message and forwards it to the operators as plain text only", async () => {
      assert.equal((await post("/v1/leads/contact", contact)).status, 201);
      assert.equal((await newest("contact_messages"))?.["fullname"], "Ada <b>Lovelace</b>");
      const { content } = await sentMessage(app.deps, inbox, "contact");
      assert.equal(content.subject, "Contact: Hello Bcc: eve@example.com");
      assert.ok(content.text.includes("First line.\n<script>alert(1)</script>\n{fullname}"));
      assert.doesNotMatch(content.html ?? "", /<script|<b>/);
    });

    it("stores a message once under one Idempotency-Key, as the feedback endpoint does", async () => {
      const feedback = { kind: "idea", source: "trivia-web", message: "Once is enough" };
      for (const [table, path, body] of [
        ["contact_messages", "/v1/leads/contact", contact],
        ["feedback", "/v1/leads/feedback", feedback],
      ] as const) {
        const send = async () => (await post(path, body, { "Idempotency-Key": "once-1" })).status;
        assert.equal(await send(), 201);
        const { id } = (await newest(table)) ?? {};
        assert.equal(await send(), 201);
        assert.equal((await newest(table))?.["id"], id);
      }
    });

    it("stores a message once under a key, as feedback does, even if the first response was lost", async () => {
      const message = "Lost on the way back";
      const numForwarded = async () =>
        (await rowsOf(app.deps.em, sql`select 1 from messages where template = 'contact'`)).length;
      const before = await numForwarded();
      for (const [table, path, body] of [
        ["contact_messages", "/v1/leads/contact", { ...contact, message }],
        ["feedback", "/v1/leads/feedback", { kind: "idea", source: "trivia-web", message }],
      ] as const) {
        const send = () => post(path, body, { "Idempotency-Key": "lost-1" });
        await loseAnswer(app, send);
        assert.equal((await send()).status, 201);
        const query = sql`select 1 from ${sql.table(table)} where message = ${message}`;
        assert.equal((await rowsOf(app.deps.em, query)).length, 1);
      }
      assert.equal(await numForwarded(), before + 1);
    });

    it("enforces the limits of every field, counted in characters", async () => {
      const fine: object[] = [
        { message: "ä".repeat(10) },
        { message: "😀".repeat(5_000), fullname: "n".repeat(255), subject: "😀".repeat(255) },
      ];
      for (const change of fine)
        assert.equal((await post("/v1/leads/contact", { ...contact, ...change })).status, 201);
      const wrong: [string, object][] = [
        ["message", { message: `  ${"x".repeat(9)}  ` }],
        ["message", { message: "x".repeat(5_001) }],
        ["fullname", { fullname: "  " }],
        ["fullname", { fullname: "n".repeat(256) }],
        ["subject", { subject: "" }],
        ["subject", { subject: "s".repeat(256) }],
        ["discovery", { discovery: "d".repeat(65) }],
        ["email", { email: "ada" }],
      ];
      for (const [field, change] of wrong) {
        const answer = await post("/v1/leads/contact", { ...contact, ...change });
        assert.equal(answer.status, 422);
        const { flash } = answer.json as { flash: { violations: { propertyPath: string }[] } };
        assert.deepEqual(
          flash.violations.map((one) => one.propertyPath),
          [field],
        );
      }
      const empty = await post("/v1/leads/contact", {});
      const { flash } = empty.json as { flash: { violations: object[] } };
      assert.equal(flash.violations.length, 5);
    });
  });
  describe("POST /v1/leads/feedback", () => {
    const feedback = { kind: "idea", source: "trivia-web", message: "More cats" };

    it("stores feedback without a player, with a player, or with a player and a user", async () => {
      const guest = await enter(app);
      const { session } = await registerAccount(app);
      const cases: [Record<string, string>, number | null, number | null][] = [
        [{}, null, null],
        [tokenOf(guest), null, guest.player.id],
        [tokenOf(session), session.player.id, session.player.id],
      ];
      for (const [headers, userId, playerId] of cases) {
        const context = { scene: { level: 3 }, "": null, __proto__: undefined };
        const body = { ...feedback, context, route: "/play", email: "a@example.com" };
        assert.equal((await post("/v1/leads/feedback", body, headers)).status, 201);
        const row = await newest("feedback");
        assert.equal(row?.["user_id"], userId);
        assert.equal(row["player_id"], playerId);
        assert.deepEqual(row["context"], { scene: { level: 3 }, "": null });
      }
    });

    it("enforces the kinds and the limits", async () => {
      const wrong: object[] = [
        { kind: "rant" },
        { source: "s".repeat(65) },
        { message: "shrt" },
        { message: "x".repeat(5_001) },
        { email: "nobody" },
        {
          email: `${"a".repeat(60)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(63)}.example`,
        },
        { route: "/".repeat(513) },
        { context: [] },
        { context: "x" },
        { context: { long: "x".repeat(16_384) } },
      ];
      for (const change of wrong)
        assert.equal((await post("/v1/leads/feedback", { ...feedback, ...change })).status, 422);
      const full = { ...feedback, context: { long: "x".repeat(16_373) }, route: "/".repeat(512) };
      assert.equal((await post("/v1/leads/feedback", full)).status, 201);
      const spaced = { ...full, source: ` ${"s".repeat(64)}\n`, route: `\t ${full.route}\n` };
      assert.equal((await post("/v1/leads/feedback", spaced)).status, 201);
      assert.equal((await newest("feedback"))?.["route"], full.route);
    });
  });
});
