import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { sourceFlags } from "../../../../support/programs.ts";
import { saveAwards, type AwardTerms } from "../../../../../db/queries/wallet/awards.ts";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { readLedgerTotals } from "../../../../../db/queries/wallet/ledger-reconciliation.ts";
import { problemsOf } from "../../../../../server/features/wallet/domain/reconciliation.ts";
import {
  countedSources,
  type Currency,
} from "../../../../../server/features/wallet/domain/currencies.ts";
import {
  operations,
  type OperationName,
} from "../../../../../server/features/wallet/domain/operations.ts";
import { testStores, type TestStores } from "../../../../support/stores.ts";
import { createChoices } from "../../../../support/random.ts";
import { executeAll, openStore, type Outcome, type MoneyRequest } from "./teller.ts";

const numPlayers = 100;
const numRequests = 5_000;

/** A share of the requests is repeated, concurrently and by other processes. */
const repeatShare = 0.15;
const dailyLimit = 3;
const seed = Number(process.env["WALLET_SEED"] ?? Date.now() % 1_000_000);
const days = [Date.parse("2026-05-01T10:00:00Z"), Date.parse("2026-05-02T00:00:00Z")] as const;

const terms = (name: string, more: Partial<AwardTerms>): AwardTerms => ({
  awardId: `id.award.${name}`,
  game: "test",
  name,
  emberValue: 20,
  repeatable: false,
  dailyLimit: null,
  clientClaimable: true,
  isActive: true,
  ...more,
});

const awards = {
  once: terms("once", {}),
  daily: terms("daily", { emberValue: 7, repeatable: true, dailyLimit }),
  always: terms("always", { emberValue: 3, repeatable: true }),
};

interface Row {
  id: number;
  playerId: number;
  currency: Currency;
  amount: number;
  balance: number;
  total: number;
  source: string;
  refId: string;
  createdAtMs: number;
}

let stores: TestStores;
let orm: MikroORM;
let requests: MoneyRequest[];
const outcomes = new Map<string, Outcome[]>();
let entries: Row[];

/** Mostly few players are chosen, which causes conflicts. */
function makeRequests(): MoneyRequest[] {
  const random = createChoices(seed);
  const names = Object.keys(operations) as OperationName[];
  return Array.from({ length: numRequests }, (_, n): MoneyRequest => {
    const ref = `w${n}`;
    const playerId =
      1 + Math.min(random.between(0, numPlayers - 1), random.between(0, numPlayers - 1));
    if (random.is(0.25)) {
      const { awardId } = random.pick(Object.values(awards));
      return { ref, playerId, name: "award", awardId, now: random.pick(days) };
    }
    const name = random.pick(names);
    const size = random.between(1, name.endsWith("spend") ? 60 : 40);
    const isDown = operations[name].direction === "signed" && random.is(0.5);
    return { ref, playerId, name, amount: isDown ? -size : size };
  });
}

/** Two processes, one of which is killed twice, and this one, which also repeats requests of the others. */
async function playOut(): Promise<void> {
  const report = (outcome: Outcome) =>
    outcomes.set(outcome.ref, [...(outcomes.get(outcome.ref) ?? []), outcome]);
  const random = createChoices(seed + 1);
  const part = (n: number) => requests.filter((_, at) => at % 3 === n);
  const isRepeated = (request: MoneyRequest) => request.name !== "award" && random.is(repeatShare);
  // Repeats its own requests, and those of others at about the time they process them.
  const mine = requests.flatMap((request, at) => [
    ...(at % 3 === 2 ? [request] : []),
    ...(isRepeated(request) ? [request] : []),
  ]);
  const killed = [part(0).slice(0, 833), part(0).slice(833)].map((list) =>
    runProcess(list, report, random.between(150, 550)),
  );
  const [unanswered] = await Promise.all([
    Promise.all(killed).then((lists) => lists.flat()),
    runProcess(part(1), report, null),
    executeAll(orm, mine.values(), report),
  ]);
  // Requests that a killed process left open are repeated; an award may then be granted a second time.
  assert.ok(unanswered.length > 0, "no process was killed in time");
  await executeAll(orm, unanswered.filter(({ name }) => name !== "award").values(), report);
}

/** Kills the process after this many responses, if given; resolves to the unanswered requests. */
async function runProcess(
  list: MoneyRequest[],
  report: (outcome: Outcome) => void,
  killAfter: number | null,
): Promise<MoneyRequest[]> {
  const program = fileURLToPath(new URL("./teller-process.ts", import.meta.url));
  const child: ChildProcess = fork(program, [], { execArgv: [...sourceFlags] });
  // Messages sent before the end arrive before the channel closes.
  const ended = Promise.all([once(child, "exit"), once(child, "disconnect")]);
  const answered = new Set<string>();
  child.on("message", (message: Outcome | "ready" | "done") => {
    if (message === "ready") {
      child.send({ databaseUrl: stores.databaseUrl, requests: list });
      return;
    }
    if (message === "done") return;
    report(message);
    answered.add(message.ref);
    if (answered.size === killAfter) child.kill("SIGKILL");
  });
  const [[code]] = await ended;
  assert.equal(code, killAfter === null ? 0 : null);
  return list.filter(({ ref }) => !answered.has(ref));
}

const ofWallet = (playerId: number, currency: Currency) =>
  entries.filter((one) => one.playerId === playerId && one.currency === currency);

const resultsOf = (ref: string) => (outcomes.get(ref) ?? []).map(({ result }) => result);
const requestsByRef = () => new Map(requests.map((request) => [request.ref, request]));

/** Possible balances of a wallet between two times. */
function balancesBetween(playerId: number, currency: Currency, from: number, to: number) {
  const rows = ofWallet(playerId, currency);
  const isBefore = (row: Row) =>
    row.source !== "award" &&
    (outcomes.get(row.refId) ?? []).some(
      ({ result, answered }) => result.startsWith("done") && answered < from,
    );
  const isAfter = (row: Row) => row.source !== "award" && row.createdAtMs > to;
  const first = rows.findLastIndex(isBefore);
  const last = rows.findIndex(isAfter);
  const possible = rows.slice(Math.max(first, 0), last < 0 ? rows.length : last);
  return [...(first < 0 ? [0] : []), ...possible.map((row) => row.balance)];
}

describe(`5,000 movements of 100 players at once, with killed processes (seed ${seed})`, () => {
  before(async () => {
    stores = await testStores();
    orm = await openStore(stores.databaseUrl);
    await rowsOf(
      orm.em.fork(),
      sql`insert into players (id, name, name_key, is_guest, realm)
        select n, 'p' || n, 'p' || n, true, 'default' from generate_series(1, ${numPlayers}) n`,
    );
    await saveAwards(orm.em.fork(), Object.values(awards));
    requests = makeRequests();
    await playOut();
    entries = await rowsOf<Row>(
      orm.em.fork(),
      sql`select id::float8 as id, player_id as "playerId", currency, amount::float8 as amount,
          balance::float8 as balance, total::float8 as total, source, ref_id as "refId",
          (extract(epoch from created_at) * 1000)::float8 as "createdAtMs"
        from ledger_entries order by player_id, currency, id`,
    );
  });
  after(async () => {
    await orm.close(true);
    await stores.stop();
  });

  describe("match a model", () => {
    it("leave every wallet in the state of a plain model, entry by entry", async () => {
      const states = await rowsOf(
        orm.em.fork(),
        sql<{ playerId: number; currency: Currency; balance: number; total: number }>`
        select player_id as "playerId", currency, balance::float8 as balance, total::float8 as total
        from wallets`,
      );
      assert.ok(states.length > numPlayers);
      for (const { playerId, currency, balance, total } of states) {
        const model = { balance: 0, total: 0 };
        for (const entry of ofWallet(playerId, currency)) {
          model.balance += entry.amount;
          const isCounted = !["spend", "refund"].includes(entry.source) && entry.amount > 0;
          model.total += isCounted ? entry.amount : 0;
          assert.ok(model.balance >= 0);
          assert.deepEqual({ balance: entry.balance, total: entry.total }, model);
        }
        assert.deepEqual({ balance, total }, model);
      }
    });

    it("happen exactly once when confirmed, with the requested amount, and otherwise never", () => {
      const byRef = new Map<string, Row[]>();
      for (const row of entries)
        if (row.source !== "award") byRef.set(row.refId, [...(byRef.get(row.refId) ?? []), row]);
      const all = requestsByRef();
      assert.ok([...byRef.keys()].every((ref) => all.has(ref)));
      for (const request of requests) {
        if (request.name === "award") continue;
        const results = resultsOf(request.ref);
        const rows = byRef.get(request.ref) ?? [];
        const isDone = results.some((one) => one.startsWith("done"));
        assert.equal(rows.length, isDone ? 1 : 0, request.ref);
        assert.ok(results.filter((one) => one === "done").length <= 1, request.ref);
        const { currency, direction, source } = operations[request.name];
        const amount = direction === "debit" ? -request.amount : request.amount;
        for (const row of rows)
          assert.deepEqual(
            [row.playerId, row.currency, row.source, row.amount],
            [request.playerId, currency, source, amount],
          );
      }
    });
  });
  describe("have valid outcomes", () => {
    it("are refused only when the balance was too low at that moment", () => {
      const all = requestsByRef();
      let refused = 0;
      for (const { ref, result, asked, answered } of [...outcomes.values()].flat()) {
        const request = all.get(ref);
        if (!request || request.name === "award" || result !== "wallet:insufficient_funds")
          continue;
        refused += 1;
        const { currency } = operations[request.name];
        const balances = balancesBetween(request.playerId, currency, asked, answered);
        assert.ok(
          Math.min(...balances) < Math.abs(request.amount),
          `${ref}: ${balances.join(" ")}`,
        );
      }
      assert.ok(refused > 50, "the wallets were never empty");
    });

    it("have no outcome outside this list", () => {
      const results = new Set([...outcomes.values()].flat().map(({ result }) => result));
      assert.deepEqual([...results].sort(), [
        "award:daily_limit",
        "done",
        "done before",
        "earned before",
        "wallet:insufficient_funds",
      ]);
    });

    it("grant an award once, or up to its daily limit, and always together with its money", async () => {
      const grants = await rowsOf(
        orm.em.fork(),
        sql<{ playerId: number; awardId: string; day: string; count: number }>`
        select player_id as "playerId", award_id as "awardId",
          (granted_at at time zone 'UTC')::date::text as day, count(*)::int as count
        from award_grants group by 1, 2, 3`,
      );
      const granted = (playerId: number, awardId: string, day: string | null) =>
        grants
          .filter((one) => one.playerId === playerId && one.awardId === awardId)
          .filter((one) => day === null || one.day === day)
          .reduce((sum, { count }) => sum + count, 0);
      const claims = Map.groupBy(
        requests.filter((request) => request.name === "award"),
        (request) => `${request.playerId}/${request.awardId}`,
      );
      for (const asked of claims.values()) {
        const [{ playerId, awardId }] = asked as [(typeof asked)[0]];
        const acknowledged = (list: typeof asked) =>
          list.filter(({ ref }) => resultsOf(ref).includes("done")).length;
        const unanswered = (list: typeof asked) =>
          list.filter(({ ref }) => !outcomes.has(ref)).length;
        const within = (count: number, list: typeof asked) =>
          assert.ok(
            count >= acknowledged(list) && count <= acknowledged(list) + unanswered(list),
            `${playerId} ${awardId}: ${count} of ${list.length}`,
          );
        within(granted(playerId, awardId, null), asked);
        if (awardId === awards.once.awardId) assert.ok(granted(playerId, awardId, null) <= 1);
        if (awardId === awards.once.awardId && unanswered(asked) === 0)
          assert.equal(granted(playerId, awardId, null), 1);
        if (awardId !== awards.daily.awardId) continue;
        for (const now of days) {
          const list = asked.filter((request) => request.now === now);
          const count = granted(playerId, awardId, new Date(now).toISOString().slice(0, 10));
          assert.ok(count <= dailyLimit);
          assert.ok(count >= Math.min(dailyLimit, list.length - unanswered(list)));
        }
      }
    });

    it("pass the reconciliation of the maintenance job", async () => {
      const ledger = await readLedgerTotals(
        orm.em.fork(),
        { after: 0, upTo: 2_147_483_647 },
        countedSources,
      );
      assert.ok(ledger.length > numPlayers);
      assert.deepEqual(
        ledger.flatMap((one) => problemsOf(one)),
        [],
      );
    });
  });
});
