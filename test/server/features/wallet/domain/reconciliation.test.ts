import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "kysely";
import { readReconciliation } from "../../../../../db/queries/wallet/ledger-reconciliation.ts";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { parseConfig } from "../../../../../server/platform/config/config.ts";
import { Refusal } from "../../../../../server/console/command.ts";
import { commands } from "../../../../../server/console/commands.ts";
import { presentReconciliation } from "../../../../../server/operator/wallets/present.ts";
import { awardWithin } from "../../../../../server/features/wallet/domain/awards.ts";
import {
  reconcileLedger,
  compareAll,
} from "../../../../../server/features/wallet/domain/reconciliation.ts";
import {
  operate,
  type OperationName,
} from "../../../../../server/features/wallet/domain/operations.ts";
import { maintain } from "../../../../../workers/processors/maintenance.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { enter } from "../../../../support/identity.ts";

let app: App;
let player: number;
const em = () => app.deps.orm.em.fork();
const run = (statement: string) => rowsOf(em(), sql.raw(statement));

/** A change that no code of the service can make. */
const tamper = (...statements: string[]) =>
  em().transactional(async (inner) => {
    for (const statement of ["set local session_replication_role = replica", ...statements])
      await rowsOf(inner, sql.raw(statement));
  });

const move = (name: OperationName, amount: number, refId = "") =>
  operate(em(), name, { playerId: player, amount, refType: "t", refId, at: new Date() });

const award = (awardId: string, game: string) =>
  em().transactional((inner) =>
    awardWithin(inner, {
      playerId: player,
      awardId,
      game,
      now: Date.now(),
      isClaim: false,
      ref: null,
    }),
  );

const fill = async () => {
  await award("id.award.welcome", "platform");
  await award("id.award.first_win", "trivia");
  await move("embers:grant", 70);
  await move("embers:spend", 20);
  await move("ingots:credit", 100);
  await move("ingots:spend", 30);
  await move("ingots:refund", 5);
};

const deps = () => ({ ...app.deps, em: em() });

const finishRound = async (bounds?: { wallets: number; entries: number }) => {
  while (!(await reconcileLedger(deps(), bounds)));
  return readReconciliation(em(), { rounds: 5, differences: 50 });
};

const verify = () => {
  const command = commands.find(({ name }) => name === "wallet:verify");
  const config = parseConfig({
    DATABASE_URL: app.stores.databaseUrl,
    REDIS_URL: app.stores.redisUrl,
  });
  return command?.run(config, { player: String(player) });
};

const verifyAll = async () => {
  const command = commands.find(({ name }) => name === "wallet:verify");
  const { databaseUrl, redisUrl } = app.stores;
  const config = parseConfig({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
  return (await command?.run(config, {})) as Record<string, unknown>;
};

describe("the ledgers of the wallets", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());
  beforeEach(async () => {
    player = (await enter(app)).player.id;
  });

  describe("match their wallets", () => {
    it("match after every kind of movement, also when one player is checked on the command line", async () => {
      await fill();
      const { rounds, differences, numDifferences } = await finishRound();
      assert.deepEqual([differences, numDifferences], [[], 0]);
      assert.ok(rounds[0]?.finishedAtMs);
      assert.deepEqual(await verify(), {
        player,
        is_proved: true,
        embers: { balance: 110, total: 130, entries: 4, level: 2, awards: 2 },
        ingots: { balance: 75, total: 100, entries: 3 },
      });
    });

    it("are all checked on the command line without a player, and every mismatch is named", async () => {
      const start = await verifyAll();
      const players: number[] = [];
      for (let n = 0; n < 3; n++) {
        player = (await enter(app)).player.id;
        players.push(player);
        await fill();
      }
      const sum = (name: string, more: number) => Number(start[name]) + 3 * more;
      assert.deepEqual(await verifyAll(), {
        is_proved: true,
        num_wallets: sum("num_wallets", 2),
        num_entries: sum("num_entries", 7),
        embers: sum("embers", 110),
        ingots: sum("ingots", 75),
      });
      const [first = 0, , last = 0] = players;
      // Must be found by the last batch: a ledger above all wallets.
      await tamper(
        `update wallets set balance = balance + 1 where player_id = ${first} and currency = 'ingots'`,
        `delete from wallets where player_id = ${last}`,
      );
      await assert.rejects(verifyAll(), (error: Error) => {
        assert.ok(error instanceof Refusal);
        const [head = "", ...lines] = error.message.split("\n");
        assert.match(head, /^wallet:differs 3 of \d+ wallets$/);
        assert.ok(lines.includes(`  player ${first} ingots balance: wallet 76, ledger 75`));
        assert.ok(lines.includes(`  player ${last} embers balance: wallet 0, ledger 110`));
        assert.ok(!error.message.includes(`player ${players[1]} `));
        return true;
      });
      await tamper(
        `update wallets set balance = balance - 1 where player_id = ${first} and currency = 'ingots'`,
        `delete from ledger_entries where player_id = ${last}`,
        `delete from award_grants where player_id = ${last}`,
      );
      assert.equal((await verifyAll())["is_proved"], true);
    });

    it("are compared in slices of any size", async () => {
      await fill();
      const collect = async (bounds?: { wallets: number; entries: number }) => {
        const seen: string[] = [];
        const visit = (slice: readonly { playerId: number; currency: string }[]) => {
          seen.push(...slice.map((one) => `${one.playerId} ${one.currency}`));
        };
        await compareAll(em(), visit, bounds);
        return seen;
      };
      const all = await collect();
      assert.ok(all.includes(`${player} embers`) && all.includes(`${player} ingots`));
      assert.deepEqual(await collect({ wallets: 1, entries: 1 }), all);
      assert.deepEqual(await collect({ wallets: 3, entries: 9 }), all);
    });

    it("accept an empty wallet, and refuse a player who does not exist", async () => {
      assert.deepEqual(await verify(), { player, is_proved: true });
      player = 2_000_000_000;
      await assert.rejects(async () => verify(), new Refusal("player:not_found"));
    });

    it("are append-only, even for direct Postgres statements", async () => {
      await fill();
      for (const statement of [
        `update ledger_entries set amount = 1 where player_id = ${player}`,
        `delete from ledger_entries where player_id = ${player}`,
        "truncate ledger_entries",
      ])
        await assert.rejects(run(statement), /only appended to/, statement);
      for (const statement of [
        `update wallets set balance = -1 where player_id = ${player}`,
        `insert into ledger_entries (player_id, currency, seq, amount, source, balance, total, created_at)
        values (${player}, 'embers', 1, 5, 'bonus', 5, 5, now())`,
      ])
        await assert.rejects(run(statement), /wallets_balance_check|ledger_entries_seq_unique/);
    });
  });
  describe("reveal changes made outside the service", () => {
    const wallet = () => `where player_id = ${player} and currency = 'embers'`;
    const at = (seq: number) =>
      `where player_id = ${player} and currency = 'embers' and seq = ${seq}`;
    const cases: [what: string, statement: () => string, expected: string[]][] = [
      ["a balance", () => `update wallets set balance = balance - 1 ${wallet()}`, ["balance"]],
      [
        "a lifetime that gives another level",
        () => `update wallets set total = 260 ${wallet()}`,
        ["lifetime", "level"],
      ],
      [
        "an amount",
        () => `update ledger_entries set amount = amount + 1 ${at(3)}`,
        ["balance", "lifetime", "broken entries"],
      ],
      [
        "two amounts that even out",
        () => `update ledger_entries set amount = amount + 5 - 10 * (seq - 3) ${at(3)} or
          (player_id = ${player} and currency = 'embers' and seq = 4)`,
        ["lifetime", "broken entries"],
      ],
      [
        "an entry that is gone",
        () => `delete from ledger_entries ${at(4)}`,
        ["balance", "entries"],
      ],
      [
        "the first entry gone",
        () => `delete from ledger_entries ${at(1)}`,
        ["balance", "lifetime", "entries", "broken entries", "awards", "paid awards"],
      ],
      [
        "a source",
        () => `update ledger_entries set source = 'spend' ${at(3)}`,
        ["lifetime", "broken entries", "level"],
      ],
      [
        "a grant nobody paid",
        () =>
          `update award_grants set ember_value = 11 where player_id = ${player} and ember_value = 10`,
        ["paid awards"],
      ],
      [
        "a grant that is gone",
        () => `delete from award_grants where player_id = ${player} and ember_value = 10`,
        ["awards"],
      ],
      [
        "a wallet that is gone",
        () => `delete from wallets ${wallet()}`,
        ["balance", "lifetime", "entries", "level"],
      ],
    ];
    for (const [what, statement, expected] of cases)
      it(what, async () => {
        await fill();
        await tamper(statement());
        const { differences, numDifferences, rounds } = await finishRound();
        assert.equal(numDifferences, 1);
        assert.equal(rounds[0]?.numDifferences, 1);
        const [found] = differences;
        assert.deepEqual([found?.playerId, found?.currency], [player, "embers"]);
        assert.deepEqual(
          found?.problems.map((problem) => problem.what),
          expected,
        );
        await assert.rejects(
          async () => verify(),
          /^Error: wallet:differs player \d+\n {2}embers /,
        );
        const gauge = await app.deps.metrics.walletDifferences.get();
        assert.equal(gauge.values[0]?.value, 1);
        // A player without any rows agrees again.
        await tamper(
          ...["wallets", "ledger_entries", "award_grants"].map(
            (table) => `delete from ${table} where player_id = ${player}`,
          ),
        );
        assert.equal((await finishRound()).numDifferences, 0);
      });

    it("are reported to operators on a mismatch, with both numbers and the time", async () => {
      await fill();
      await tamper(`update wallets set balance = 7 ${wallet()}`);
      const first = (await finishRound()).differences[0];
      const second = await finishRound();
      assert.equal(second.differences[0]?.foundAtMs, first?.foundAtMs);
      const shown = presentReconciliation(second) as {
        num_differences: number;
        differences: object[];
      };
      assert.equal(shown.num_differences, 1);
      const time = /^\d{4}-.*\+00:00$/;
      const [{ found_at, seen_at, ...rest }] = shown.differences as [Record<string, string>];
      assert.match(`${found_at}`, time);
      assert.match(`${seen_at}`, time);
      assert.deepEqual(rest, {
        player_id: player,
        currency: "embers",
        problems: [{ what: "balance", wallet: 7, ledger: 110 }],
      });
      await tamper(`update wallets set balance = 110 ${wallet()}`);
      assert.equal((await finishRound()).numDifferences, 0);
    });
  });
  describe("are reconciled", reconciled);
});

function reconciled(): void {
  it("are compared in slices, each wallet once per round, even by several concurrent jobs", async () => {
    const players: number[] = [];
    for (let n = 0; n < 6; n++) {
      player = (await enter(app)).player.id;
      players.push(player);
      await fill();
    }
    await finishRound();
    const bounds = { wallets: 3, entries: 9 };
    const ends = await Promise.all([1, 2, 3].map(() => reconcileLedger(deps(), bounds)));
    assert.ok(ends.includes(true));
    while (!(await reconcileLedger(deps(), bounds)));
    const { rounds } = await readReconciliation(em(), { rounds: 3, differences: 1 });
    const [counts] = await rowsOf(
      em(),
      sql<{
        wallets: number;
        entries: number;
      }>`select (select count(*)::int from wallets) as wallets,
        (select count(*)::int from ledger_entries) as entries`,
    );
    for (const round of rounds.filter(({ finishedAtMs }) => finishedAtMs !== null))
      assert.deepEqual(
        { wallets: round.numWallets, entries: round.numEntries },
        { wallets: counts?.wallets, entries: counts?.entries },
      );
  });

  it("are compared by the maintenance job, and the newest hundred finished rounds are stored", async () => {
    await run(`insert into wallet_rounds (started_at, finished_at)
      select now(), now() from generate_series(1, 120)`);
    await maintain({ task: "wallets" }, deps());
    const [row] = await rowsOf(
      em(),
      sql<{ count: number }>`select count(*)::int as count from wallet_rounds`,
    );
    assert.equal(row?.count, 100);
  });
}
