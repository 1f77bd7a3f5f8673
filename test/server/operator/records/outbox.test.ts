import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { sql } from "kysely";
import { registerAccount } from "../../../support/identity.ts";
import { linkIn, open, read, rowsIn, run, startsRecords, app } from "./records-app.ts";

interface Messages {
  player?: { id: number; name: string };
  messages: { id: number; to: string; status: string; kind: string }[];
  next: number | null;
}

const path = "/operator/outbox";
const evil = `"><img src=x onerror=alert(1)>`;

const insert = (values: { kind: string; to: string; status: string; error?: string }) =>
  run(sql`insert into messages (kind, template, locale, recipient, status, attempts, last_error,
      created_at, expires_at)
    values (${values.kind}, 'sign-in-code', 'en', ${values.to}, ${values.status}, 3,
      ${values.error ?? null}, now(), now())`);

describe("the outbox of operators", () => {
  startsRecords();
  let own: { id: number; email: string };
  before(async () => {
    const { email, session } = await registerAccount(app);
    own = { id: session.player.id, email };
    await run(sql`delete from messages`);
    await insert({ kind: "mail", to: "ada@example.com", status: "failed", error: evil });
    await insert({ kind: "sms", to: "+4915112345678", status: "sent" });
    await insert({ kind: "mail", to: "ada@example.com", status: "expired" });
    await insert({ kind: "mail", to: email, status: "sent" });
  });

  it("is filtered by kind, state and address, and keeps the filter on the next page", async () => {
    const stateOf = async (query: string) =>
      (await read<Messages>(`${path}?${query}`)).body.messages.map(({ status }) => status);
    assert.deepEqual(await stateOf(""), ["sent", "expired", "sent", "failed"]);
    assert.deepEqual(await stateOf("kind=sms"), ["sent"]);
    assert.deepEqual(await stateOf("status=expired"), ["expired"]);
    assert.deepEqual(await stateOf("to=Ada@Example.com"), ["expired", "failed"]);
    assert.deepEqual(await stateOf("to="), await stateOf(""), "an empty field of the form");
    const first = await open(`${path}?kind=mail&to=ada@example.com&limit=1`);
    const more = linkIn(first.text, "More") ?? assert.fail("no link to the next page");
    assert.equal(rowsIn((await open(more)).text)[0]?.[5], "failed");
    assert.equal(linkIn((await open(more)).text, "More"), null);
  });

  it("shows state, attempts and masked address, and escapes the words of others", async () => {
    const { text } = await open(`${path}?status=failed`);
    const [row] = rowsIn(text);
    assert.deepEqual(row?.slice(2, 7), ["mail", "sign-in-code", "a***@example.com", "failed", "3"]);
    assert.ok(row?.[7]?.includes("&#60;img") && !text.includes("<img"));
    assert.ok(rowsIn((await open(`${path}?kind=sms`)).text)[0]?.includes("+4***78"));
    const { body } = await read<Messages>(`${path}?status=failed`);
    assert.equal(body.messages[0]?.to, "ada@example.com", "complete outside production");
  });

  it("has of a player the messages to the present address", async () => {
    const { body } = await read<Messages>(`/operator/players/${own.id}/messages`);
    assert.deepEqual(
      body.messages.map(({ to }) => to),
      [own.email],
    );
    await run(sql`update players set phone = '+4915112345678' where id = ${own.id}`);
    const { text } = await open(`/operator/players/${own.id}/messages?limit=1`);
    assert.equal(rowsIn(text)[0]?.[2], "mail");
    const more = linkIn(text, "More") ?? assert.fail("no link to the next page");
    assert.equal(rowsIn((await open(more)).text)[0]?.[2], "sms");
    assert.equal(linkIn(text, "Wallet"), `/operator/players/${own.id}/wallet`);
    const nobody = await open("/operator/players/2147483647/messages");
    assert.equal(nobody.status, 404);
    assert.match(nobody.text, /player:not_found/);
  });
});
