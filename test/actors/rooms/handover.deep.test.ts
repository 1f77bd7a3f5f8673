import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import type { Reply } from "../../../actors/index.ts";
import { shardCount } from "../../../actors/log/keys.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { createLogger } from "../../../server/platform/log/logger.ts";
import { maxLinesPerWindow } from "../../../server/platform/log/log-sampling.ts";
import { bodyOf, by, newMember, startedLobby, type Member } from "./fleet.ts";
import { testStores } from "../../support/stores.ts";
import { ProcessFleet } from "./process-fleet.ts";
import { eventually } from "../../support/eventually.ts";

const minuteMs = 60_000;

it("a command to a lobby is refused at once when the last worker leaves", async () => {
  const stores = await testStores();
  try {
    const members = await Promise.all(
      [1, 2].map(() => newMember(stores.redisUrl, { timings: { timeoutMs: 60 * minuteMs } })),
    );
    await Promise.all(members.map(({ lobbies }) => lobbies.handOver()));
    for (const { lobbies } of members) {
      const reply = await lobbies.ask("ABC234", { type: "heartbeat", ...by(1) });
      assert.equal(reply.ok ? "" : reply.code, "server:unavailable");
      await lobbies.stop();
    }
  } finally {
    await stores.stop();
  }
});

it("an unavailable Redis causes only a few log lines, however many commands fail", async () => {
  const stores = await testStores();
  const lines: string[] = [];
  const config = parseConfig({ LOG_LEVEL: "warn" });
  const log = createLogger(config, "test", { write: (line) => lines.push(line) });
  const member = await newMember(stores.redisUrl, {
    log,
    clock: { now: () => 1 },
    timings: { timeoutMs: 300 },
  });
  try {
    await stores.redis.kill();
    const codes = Array.from({ length: maxLinesPerWindow + 2 }, (_, i) => `ABC2${i}`);
    await Promise.all(
      codes.map(async (code) => member.lobbies.ask(code, { type: "heartbeat", ...by(1) })),
    );
    const failures = () => lines.filter((line) => line.includes("actor_read_failed")).length;
    // On a busy machine a command may give up before its read has failed.
    await eventually("the reads have failed", async () => failures() >= maxLinesPerWindow);
    assert.equal(failures(), maxLinesPerWindow);
  } finally {
    await member.lobbies.stop();
    await stores.stop();
  }
});

describe("lobbies of a worker that leaves", () => {
  let fleet: ProcessFleet;
  /** The surviving worker; its clock is ahead of the others' as the test says. */
  let member: Member;
  let aheadMs = 0;

  before(async () => {
    fleet = await ProcessFleet.start({ clock: { now: () => Date.now() + aheadMs } });
    ({ member } = fleet);
  });
  after(() => fleet.stop());

  /** Timers of a killed owner, each due by the survivor's clock. */
  it("keep their timers, which fire once: question deadline, host timeout, idle timeout", async () => {
    const other = await fleet.neighbour();
    const shape = { mode: "coop", questions: 2, seats: [1, 2] } as const;
    const [question = "", host = "", idle = ""] = await fleet.codesOf(other.nodeId, 3);
    const codes = { question, host, idle };
    const started = (code: string, staleMs: number, hostGraceMs: number) =>
      startedLobby(member.lobbies, code, {
        ...shape,
        seats: [...shape.seats],
        timings: { staleMs, hostGraceMs, minQuestionMs: 0 },
      });
    await started(codes.question, 60 * minuteMs, 60 * minuteMs);
    await started(codes.idle, 60 * minuteMs, 60 * minuteMs);
    await started(codes.host, 100, 3 * minuteMs);
    // Repeated if it was slow and returned.
    await eventually(
      "the host is missed",
      async () => (await fleet.countOf(codes.host, "lobby.host_disconnect")) % 2 === 1,
    );
    await fleet.kill(other);
    aheadMs = 2 * minuteMs;
    await eventually(
      "the question closes",
      async () => (await fleet.countOf(codes.question, "lobby.reveal")) > 0,
    );
    assert.equal(await fleet.countOf(codes.host, "lobby.ended"), 0);
    aheadMs = 4 * minuteMs;
    await eventually(
      "the lobby ends for its host",
      async () => (await fleet.countOf(codes.host, "lobby.ended")) > 0,
    );
    assert.equal(await fleet.countOf(codes.idle, "lobby.ended"), 0);
    aheadMs = 16 * minuteMs;
    await eventually(
      "the idle lobby ends",
      async () => (await fleet.countOf(codes.idle, "lobby.ended")) > 0,
    );
    for (const code of [codes.question, codes.idle])
      assert.equal(await fleet.countOf(code, "lobby.reveal"), 1, "one reveal");
    for (const code of Object.values(codes)) {
      assert.ok((await fleet.countOf(code, "lobby.ended")) <= 1, "one end");
      await fleet.assertGapless(code);
    }
    aheadMs = 0;
  });

  it("move in batches when the worker stops, and no command fails meanwhile", async () => {
    const leaving = await newMember(fleet.stores.redisUrl);
    const { nodeId } = leaving.lobbies.describe();
    const both = [nodeId, member.lobbies.describe().nodeId];
    await eventually("nothing moves any more", () => fleet.isBalanced(both));
    const [code = ""] = await fleet.codesOf(nodeId, 1);
    await startedLobby(member.lobbies, code, { mode: "coop", questions: 2, seats: [1, 2] });
    let isStopped = false;
    let maxFree = 0;
    const replies: Reply[] = [];
    const watch = async () => {
      while (!isStopped) {
        const free = (await fleet.owners()).filter((owner) => owner === "").length;
        maxFree = Math.max(maxFree, free);
      }
    };
    const play = async (lobbies: Member["lobbies"]) => {
      while (!isStopped) {
        const selectedIndex = replies.length % 4;
        replies.push(await lobbies.ask(code, { type: "pick", selectedIndex, index: 0, ...by(2) }));
      }
    };
    const busy = [watch(), play(member.lobbies), play(leaving.lobbies)];
    await leaving.lobbies.handOver();
    // Commands that still reach the leaving worker are forwarded.
    bodyOf(await leaving.lobbies.ask(code, { type: "heartbeat", ...by(1) }));
    isStopped = true;
    await Promise.all(busy);
    await leaving.lobbies.stop();
    const refused = replies.filter((reply) => !reply.ok);
    assert.deepEqual(refused, []);
    assert.ok(maxFree <= Math.ceil(shardCount / 10), `${maxFree} shards were free at once`);
    assert.equal(await fleet.ownedBy(member.lobbies.describe().nodeId), shardCount);
    await fleet.assertGapless(code);
  });

  it("are not answered from old state by a worker that was frozen meanwhile", async () => {
    const other = await fleet.neighbour();
    const [code = ""] = await fleet.codesOf(other.nodeId, 1);
    await startedLobby(member.lobbies, code, { mode: "coop", questions: 2, seats: [1, 2] });
    // It has the lobby in memory, and receives the command when it resumes.
    other.process.kill("SIGSTOP");
    const lock = await member.lobbies.ask(code, { type: "lock", index: 0, ...by(1) });
    assert.ok(lock.ok, JSON.stringify(lock));
    bodyOf(await member.lobbies.ask(code, { type: "next", index: 0, ...by(1) }));
    const answered = once(other.process, "message") as Promise<[{ reply: Reply }]>;
    other.process.send({ read: code });
    other.process.kill("SIGCONT");
    const [{ reply }] = await answered;
    assert.equal(bodyOf(reply).lobby.current_index, 1, "the state of the new owner");
    await fleet.assertGapless(code);
    await fleet.kill(other);
  });
});
