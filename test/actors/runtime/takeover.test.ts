import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { publishNodeDown, type Lobbies, type LobbyReply } from "../../../actors/index.ts";
import { shardCount, shardOf } from "../../../actors/runtime/storage/keys.ts";
import { eventStreamKey, lobbyKey, ownerKey } from "../../../actors/lobby-keys.ts";
import { lobbyKeyPrefix } from "../../../actors/lobby/actor.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { forked } from "../../support/forked.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { bodyOf, by, newMember, startedLobby, type Member } from "./fleet.ts";

interface Neighbour {
  process: ChildProcess;
  incarnation: string;
}

let stores: TestStores;
let redis: Redis;
let member: Member;
let codeCount = 0;

async function neighbour(kind = ""): Promise<Neighbour> {
  const args = [stores.redisUrl, kind];
  const child = forked(new URL("./member-process.ts", import.meta.url), args);
  const [message] = (await once(child, "message")) as [{ incarnation: string }];
  await until(
    async () => (await ownedBy(message.incarnation)) > shardCount / 4,
    "the neighbour has its shards",
  );
  return { process: child, incarnation: message.incarnation };
}

async function ownedBy(incarnation: string): Promise<number> {
  const owners = await redis.mget(
    Array.from({ length: shardCount }, (_, shard) => ownerKey(shard)),
  );
  return owners.filter((owner) => owner?.startsWith(`${incarnation}|`)).length;
}

/** Codes whose shard this worker owns. */
async function codesOf(incarnation: string, count: number): Promise<string[]> {
  const codes: string[] = [];
  while (codes.length < count) {
    const code = `T${(codeCount++).toString(36).toUpperCase().padStart(5, "A")}`;
    if ((await redis.get(ownerKey(shardOf(code))))?.startsWith(`${incarnation}|`)) codes.push(code);
  }
  return codes;
}

/** Like a primary when one of its processes has exited. */
async function announceDown({ incarnation }: { incarnation: string }): Promise<void> {
  await publishNodeDown(redis, { keyPrefix: lobbyKeyPrefix, incarnation }, silentLogger);
}

const versionOf = async (code: string) =>
  Number.parseInt((await redis.hget(lobbyKey(code), "v")) ?? "0", 10);

async function assertGapless(code: string): Promise<void> {
  const entries = await redis.xrange(eventStreamKey(code), "-", "+");
  entries.forEach(([id], i) => assert.equal(id, `${i + 1}-0`));
}

describe("lobbies distributed over processes", () => {
  before(async () => {
    stores = await testStores();
    redis = new Redis({ path: stores.redisUrl.replace("unix://", "") });
    redis.on("error", () => {});
    member = await newMember(stores.redisUrl);
  });
  after(async () => {
    await member.lobbies.stop();
    redis.disconnect();
    await stores.stop();
  });

  describe("whose owner dies or freezes", ownerFailures);
  describe("that continue in the meantime", continuedLobbies);
});

function ownerFailures(): void {
  it("forward commands to the owner and return its answer", async () => {
    const other = await neighbour();
    const [code = ""] = await codesOf(other.incarnation, 1);
    await startedLobby(member.lobbies, code, { mode: "coop", questions: 2, seats: [1, 2] });
    assert.equal(
      bodyOf(await member.lobbies.ask(code, { type: "pick", selectedIndex: 1, index: 0, ...by(2) }))
        .lobby,
      undefined,
    );
    const refused = await member.lobbies.ask(code, { type: "lock", index: null, ...by(2) });
    assert.deepEqual(refused, { ok: false, code: "lobby:not_host" });
    assert.equal(member.lobbies.describe().actors, 0, "the lobby lives in the other process");
    await quit(other);
  });

  it("lose and double no acknowledged answer when the owner is killed", async () => {
    const other = await neighbour();
    const codes = await codesOf(other.incarnation, 12);
    const seats = [1, 2, 3, 4];
    for (const code of codes)
      await startedLobby(member.lobbies, code, { mode: "versus", questions: 6, seats });
    const playing = codes.map((code) => playVersus(member.lobbies, code, seats, 6));
    await until(async () => (await versionOf(codes[0] ?? "")) > 8, "the games go on");
    other.process.kill("SIGKILL");
    await once(other.process, "exit");
    await announceDown(other);
    const reply = await member.lobbies.ask(codes[1] ?? "", {
      type: "read",
      by: { seatId: null, playerId: null },
    });
    assert.ok(reply.ok);
    const acknowledged = await Promise.all(playing);
    for (const [i, code] of codes.entries()) {
      const state = bodyOf(await member.lobbies.ask(code, { type: "read", ...by(1) })).lobby;
      assert.equal(state.status, "finished");
      for (const player of state.players)
        assert.equal(
          player.score,
          acknowledged[i]?.get(player.id),
          `score of seat ${player.id} in ${code}`,
        );
      await assertGapless(code);
    }
  });

  it("are taken over from a frozen owner, which can change nothing when it resumes", async () => {
    const other = await neighbour();
    const [code = ""] = await codesOf(other.incarnation, 1);
    await startedLobby(member.lobbies, code, { mode: "coop", questions: 3, seats: [1, 2] });
    other.process.kill("SIGSTOP");
    const lock = await member.lobbies.ask(code, { type: "lock", index: 0, ...by(1) });
    assert.ok(lock.ok, JSON.stringify(lock));
    const version = await versionOf(code);
    other.process.kill("SIGCONT");
    await until(
      async () => (await ownedBy(other.incarnation)) > 0,
      "the thawed worker joins again",
    );
    assert.ok((await versionOf(code)) >= version);
    const reply = await member.lobbies.ask(code, { type: "next", index: 0, ...by(1) });
    assert.equal(bodyOf(reply).lobby.current_index, 1);
    await assertGapless(code);
    await quit(other);
  });

  it("repeat the first answer of a command even after a takeover", async () => {
    const other = await neighbour();
    const [code = ""] = await codesOf(other.incarnation, 1);
    await startedLobby(member.lobbies, code, { mode: "versus", questions: 2, seats: [1, 2] });
    const answer = {
      type: "answer",
      selectedIndex: 0,
      claimedMs: 100,
      index: 0,
      ...by(2),
    } as const;
    const first = await member.lobbies.ask(code, answer, "same-key");
    other.process.kill("SIGKILL");
    await once(other.process, "exit");
    await announceDown(other);
    assert.deepEqual(await member.lobbies.ask(code, answer, "same-key"), first);
    const again = await member.lobbies.ask(code, answer, "another-key");
    assert.deepEqual(again, { ok: false, code: "lobby:already_answered" });
  });
}

function continuedLobbies(): void {
  it("fetch the questions of an endless lobby whose owner died during the draw", async () => {
    const other = await neighbour("mute");
    const [code = ""] = await codesOf(other.incarnation, 1);
    await startedLobby(member.lobbies, code, { mode: "coop", questions: null, seats: [1, 2] });
    const next = (index: number) => member.lobbies.ask(code, { type: "next", index, ...by(1) });
    for (let index = 0; index < 9; index++) bodyOf(await next(index));
    const waiting = await next(9);
    assert.ok(!waiting.ok && waiting.code === "generator:unavailable", "no batch has come");
    await quit(other);
    await announceDown(other);
    await until(async () => (await next(9)).ok, "the new owner has drawn");
    for (let index = 10; index < 30; index++)
      await until(async () => (await next(index)).ok, `question ${index + 1}`);
    const { lobby } = bodyOf(await member.lobbies.ask(code, { type: "read", ...by(1) }));
    assert.deepEqual([lobby.status, lobby.current_index], ["in_progress", 30]);
    await assertGapless(code);
  });

  it("are handed over when their owner stops, and games continue meanwhile", async () => {
    const second = await newMember(stores.redisUrl);
    await until(
      async () => (await ownedBy(second.lobbies.describe().incarnation)) > shardCount / 4,
      "shards moved",
    );
    const codes = await codesOf(second.lobbies.describe().incarnation, 6);
    for (const code of codes)
      await startedLobby(member.lobbies, code, { mode: "versus", questions: 4, seats: [1, 2] });
    const playing = codes.map((code) => playVersus(member.lobbies, code, [1, 2], 4));
    await second.lobbies.stop();
    await Promise.all(playing);
    assert.equal(await ownedBy(member.lobbies.describe().incarnation), shardCount);
    for (const code of codes) await assertGapless(code);
  });

  it("continue after Redis was killed and restarted", async () => {
    const [code = ""] = await codesOf(member.lobbies.describe().incarnation, 1);
    await startedLobby(member.lobbies, code, { mode: "versus", questions: 3, seats: [1, 2] });
    const playing = playVersus(member.lobbies, code, [1, 2], 3);
    await stores.redis.kill();
    await stores.redis.restart();
    const scores = await playing;
    const state = bodyOf(await member.lobbies.ask(code, { type: "read", ...by(1) })).lobby;
    assert.equal(state.status, "finished");
    for (const player of state.players) assert.equal(player.score, scores.get(player.id));
    await assertGapless(code);
  });

  it("close a question whose deadline passed while the lobby had no owner", async () => {
    const late = await newMember(stores.redisUrl, {
      clock: { now: () => Date.now() + 120_000 },
    });
    const incarnation = late.lobbies.describe().incarnation;
    await until(async () => (await ownedBy(incarnation)) > shardCount / 4, "shards moved");
    const own = member.lobbies.describe().incarnation;
    let code = "";
    // Shards may still be moving, and a lobby that starts on the late worker has a deadline by its clock.
    do {
      [code = ""] = await codesOf(own, 1);
      await startedLobby(member.lobbies, code, { mode: "versus", questions: 2, seats: [1, 2] });
    } while (!(await redis.get(ownerKey(shardOf(code))))?.startsWith(`${own}|`));
    await member.lobbies.stop();
    await until(async () => {
      const last = await redis.xrevrange(eventStreamKey(code), "+", "-", "COUNT", 1);
      return last[0]?.[1][1]?.includes('{"type":"lobby.started"') === false;
    }, "the timer went on in the new owner");
    await late.lobbies.stop();
    member = await newMember(stores.redisUrl);
  });
}

/**
 * Plays to the end, repeating every command under its key until acknowledged; returns the acknowledged
 * scores.
 */
async function playVersus(
  lobbies: Lobbies,
  code: string,
  seats: number[],
  questions: number,
): Promise<Map<number, number>> {
  const scores = new Map<number, number>();
  for (let index = 0; index < questions; index++) {
    await Promise.all(
      seats.map(async (seat, i) => {
        const command = {
          type: "answer",
          selectedIndex: i % 2,
          claimedMs: 1_000,
          index,
          ...by(seat),
        } as const;
        const reply = await insist(async () => lobbies.ask(code, command, `a-${index}`));
        const points = bodyOf(reply).points_earned;
        scores.set(seat, (scores.get(seat) ?? 0) + points);
      }),
    );
    bodyOf(
      await insist(async () =>
        lobbies.ask(code, { type: "next", index, ...by(seats[0] ?? 1) }, `n-${index}`),
      ),
    );
  }
  return scores;
}

async function insist(ask: () => Promise<LobbyReply>): Promise<LobbyReply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await ask();
    if (reply.ok || reply.code !== "server:unavailable" || attempt >= 3) return reply;
  }
}

async function until(
  isTrue: () => Promise<boolean>,
  what: string,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function quit(other: Neighbour): Promise<void> {
  other.process.kill("SIGKILL");
  await once(other.process, "exit");
}
