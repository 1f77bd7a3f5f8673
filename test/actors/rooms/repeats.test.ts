import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Reply } from "../../../actors/contract.ts";
import type { ErrorCode } from "../../../server/platform/errors.ts";
import type { DrawPlan, LobbyCommand, Mode } from "../../../actors/lobby/types.ts";
import { answer, by, host, lock, next, pick, questions, seat } from "../lobby/game.ts";
import { playing, waiting, type Owned } from "./owned.ts";

describe("an answer stored under an idempotency key", () => {
  test("is not evicted by heartbeats", () => {
    const owned = playing({ mode: "coop", timer: 60, num_questions: 100 });
    owned.wait(3_000);
    const first = owned.ask(next(), "k");
    for (let n = 0; n < 8; n++) {
      owned.wait(20_000);
      for (const id of [host, 2]) owned.ask({ type: "heartbeat", by: by(id) });
      owned.ask({ type: "check_seat", by: by(host) });
    }
    assert.deepEqual(owned.ask(next(), "k"), first);
    assert.equal(owned.lobby.round?.index, 1);
  });
});

describe("a start that is repeated under its idempotency key", () => {
  const prepare = { type: "prepare", by: by(host) } as const;
  const abandon = { type: "abandon_start", by: by(host) } as const;
  const planOf = (reply: Reply): DrawPlan => {
    assert.ok(reply.ok && reply.body !== null);
    return JSON.parse(reply.body) as DrawPlan;
  };
  const abandonments: [name: string, how: (owned: Owned) => unknown][] = [
    ["because the draw failed", (owned) => owned.ask(abandon)],
    ["because nobody came back from the draw", (owned) => owned.wait(25_000).ask({ type: "tick" })],
    ["as its present owner read", (owned) => (owned.ask(abandon), owned.takeOver())],
  ];
  for (const [name, giveUp] of abandonments)
    test(`plans and locks again after it was abandoned, ${name}`, async () => {
      const owned = waiting();
      assert.deepEqual(planOf(owned.ask(prepare, "k")).player_ids, [901]);
      await giveUp(owned);
      assert.equal(owned.lobby.preparingUntil, null);
      owned.ask({ type: "join", seat: seat(9, 55), by: by(null, 55) });
      assert.deepEqual(planOf(owned.ask(prepare, "k")).player_ids, [901, 55]);
      assert.equal(owned.lobby.preparingUntil, owned.now + 25_000);
      assert.deepEqual(owned.ask(prepare, "another"), {
        ...{ ok: false, code: "lobby:already_started" },
      });
    });

  test("returns its plan while the draw is under way, and its answer after it succeeded", async () => {
    const owned = waiting();
    const plan = owned.ask(prepare, "k");
    assert.deepEqual(owned.ask(prepare, "k"), plan);
    const start = {
      type: "start",
      by: by(host),
      revision: 0,
      questions: questions(100, 3),
    } as const;
    const held = owned.ask(start, "k");
    assert.ok(held.ok);
    await owned.takeOver();
    assert.deepEqual(owned.ask(prepare, "k"), plan);
    assert.deepEqual(owned.ask({ ...start, questions: [] }, "k"), held);
  });
});

describe("a command without an index that is repeated after the next question opened", () => {
  const closeFirst = (owned: Owned) => {
    owned.wait(32_000).ask({ type: "tick" });
    owned.ask({ type: "heartbeat", by: by(host) });
    owned.ask({ type: "heartbeat", by: by(2) });
  };
  const refusal = (code: ErrorCode): Reply => ({ ok: false, code });
  const closed = refusal("lobby:question_closed");
  const answered = refusal("lobby:already_answered");
  const early = refusal("lobby:not_in_progress");
  const rows: {
    name: string;
    mode: Mode;
    before: (owned: Owned) => void;
    command: LobbyCommand;
    expected: Reply | null;
  }[] = [
    { name: "a lock", mode: "coop", before: closeFirst, command: lock(), expected: null },
    {
      name: "a late pick",
      mode: "coop",
      before: closeFirst,
      command: pick(2, 1),
      expected: closed,
    },
    {
      ...{ name: "a late answer", mode: "versus", before: closeFirst },
      ...{ command: answer(2, 0), expected: closed },
    },
    {
      ...{ name: "a second answer", mode: "versus" },
      before: (owned) => void owned.ask(answer(2, 1)),
      ...{ command: answer(2, 0), expected: answered },
    },
  ];
  for (const { name, mode, before, command, expected } of rows)
    for (const isTakenOver of [false, true])
      test(`returns the same answer: ${name}${isTakenOver ? ", after a takeover" : ""}`, async () => {
        const owned = playing({ mode });
        before(owned);
        const first = owned.ask(command, "k");
        if (expected) assert.deepEqual(first, expected);
        else assert.ok(first.ok);
        owned.wait(3_000).ask(next());
        const round = structuredClone(owned.lobby.round);
        if (isTakenOver) await owned.takeOver();
        assert.deepEqual(owned.ask(command, "k"), first);
        assert.deepEqual(owned.lobby.round, round, "the question of now is left alone");
        assert.ok(owned.ask(command, "another").ok, "a new intent is carried out");
      });

  test("returns the same answer when it was first sent before the game", () => {
    const owned = waiting({ mode: "versus" });
    for (const [command, key] of [
      [next(), "a"],
      [answer(2, 0), "b"],
    ] as const)
      assert.deepEqual(owned.ask(command, key), early);
    owned.ask({ type: "start", by: by(host), revision: 0, questions: questions(100, 3) });
    owned.wait(3_000);
    for (const [command, key] of [
      [next(), "a"],
      [answer(2, 0), "b"],
    ] as const)
      assert.deepEqual(owned.ask(command, key), early);
  });

  test("is executed when its first answer was to try again", () => {
    const owned = playing({ mode: "versus" });
    const first = owned.ask(next(), "k");
    assert.ok(!first.ok && first.code === "lobby:too_early");
    assert.ok(owned.wait(3_000).ask(next(), "k").ok);
    assert.equal(owned.lobby.round?.index, 1);
  });

  test("costs a commit under a key only, and none with a fixed question", () => {
    const owned = playing({ mode: "versus" });
    owned.ask(answer(2, 1));
    const count = owned.commits.length;
    owned.ask(answer(2, 0));
    owned.ask(answer(2, 0, 0, 0), "k");
    assert.equal(owned.commits.length, count);
    owned.ask(answer(2, 0), "k2");
    assert.equal(owned.commits.length, count + 1);
    assert.deepEqual(owned.commits.at(-1)?.payloads, []);
  });
});
