import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { sql } from "kysely";
import { operate } from "../../../../server/features/wallet/domain/operations.ts";
import { registerAccount } from "../../../support/identity.ts";
import { app, linkIn, open, read, rowsIn, run, startsRecords } from "./records-app.ts";

interface Wallet {
  embers: { balance: number; lifetime: number };
  ingots: { balance: number; purchased: number };
  entries: { id: number; currency: string; amount: number; reason: string }[];
  next: number | null;
}

describe("wallets as operators see them", () => {
  startsRecords();
  let id: number;
  before(async () => {
    id = (await registerAccount(app)).session.player.id;
    const move = (name: Parameters<typeof operate>[1], amount: number, reason: string) =>
      operate(app.deps.em.fork(), name, {
        ...{ playerId: id, amount, reason, at: new Date() },
        ...{ refType: "", refId: "" },
      });
    await move("ingots:credit", 500, "<b>bought</b>");
    await move("embers:grant", 7, "event");
    await move("ingots:spend", 20, "hat");
  });

  it("have the balances and both ledgers of a player, page by page", async () => {
    const path = `/operator/players/${id}/wallet`;
    const { body } = await read<Wallet>(`${path}?limit=2`);
    assert.deepEqual(body.ingots, { balance: 480, purchased: 500 });
    assert.deepEqual(body.embers, { balance: 7, lifetime: 7 });
    assert.deepEqual(
      body.entries.map(({ currency, amount }) => [currency, amount]),
      [
        ["ingots", -20],
        ["embers", 7],
      ],
    );
    const rest = (await read<Wallet>(`${path}?cursor=${body.next ?? assert.fail()}`)).body;
    assert.equal(rest.entries[0]?.amount, 500);
    assert.equal(rest.next, null);
    const { text } = await open(`${path}?limit=2`);
    assert.deepEqual(rowsIn(text)[1], ["Ingots", "480", "500"]);
    const more = linkIn(text, "More") ?? assert.fail("no link to the next page");
    const second = await open(more);
    assert.equal(rowsIn(second.text)[2]?.[5], "&#60;b&#62;bought&#60;/b&#62;");
    assert.equal((await read("/operator/players/2147483647/wallet")).status, 404);
  });

  it("are listed where they differ from their ledger, with a link to the player", async () => {
    await run(sql`insert into wallet_differences (player_id, currency, problems, found_at, seen_at)
      values (${id}, 'ingots', '[{"what": "balance", "wallet": 5, "ledger": 6}]', now(), now())`);
    await run(sql`insert into wallet_rounds (started_at, num_wallets, num_entries, num_differences)
      values (now(), 3, 4, 1)`);
    const { text } = await open("/operator/wallets");
    const [difference, round] = rowsIn(text);
    assert.deepEqual(difference?.slice(0, 3), [String(id), "ingots", "balance 5 and 6"]);
    assert.deepEqual(round?.slice(1), ["running", "3", "4", "1"]);
    assert.equal(linkIn(text, String(id)), `/operator/players/${id}/wallet`);
  });
});
