import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Lobbies, Reply } from "../../../actors/index.ts";
import { shardCount, shardOf } from "../../../actors/log/keys.ts";
import { bodyOf, by, newMember, startedLobby } from "./fleet.ts";
import { ProcessFleet } from "./process-fleet.ts";
import { eventually } from "../../support/eventually.ts";
import { eventStreamKey, ownerKey } from "../../support/lobby-keys.ts";

// Each has a fleet of its own, and they mostly wait for processes.
describe("lobbies distributed over processes", { concurrency: true }, () => {
  describe("whose owner dies or freezes", { concurrency: false }, () => {
    let fleet: ProcessFleet;
    before(async () => {
      fleet = await ProcessFleet.start();
    });
    after(() => fleet.stop());

    it("forward commands to the owner and return its answer", async () => {
      const other = await fleet.neighbour();
      const [code = ""] = await fleet.codesOf(other.nodeId, 1);
      await startedLobby(fleet.member.lobbies, code, { mode: "coop", questions: 2, seats: [1, 2] });
      assert.equal(
        bodyOf(
          await fleet.member.lobbies.ask(code, {
            type: "pick",
            selectedIndex: 1,
            index: 0,
            ...by(2),
          }),
        ).lobby,
        undefined,
      );
      const refused = await fleet.member.lobbies.ask(code, { type: "lock", index: null, ...by(2) });
      assert.deepEqual(refused, { ok: false, code: "lobby:not_host" });
      assert.equal(
        fleet.member.lobbies.describe().actors,
        0,
        "the lobby lives in the other process",
      );
      await fleet.kill(other);
    });

    it("lose and double no acknowledged answer when the owner is killed", async () => {
      const other = await fleet.neighbour();
      const codes = await fleet.codesOf(other.nodeId, 12);
      const seats = [1, 2, 3, 4];
      for (const code of codes)
        await startedLobby(fleet.member.lobbies, code, { mode: "versus", questions: 6, seats });
      const playing = codes.map((code) => playVersus(fleet.member.lobbies, code, seats, 6));
      await eventually("the games go on", async () => (await fleet.versionOf(codes[0] ?? "")) > 8);
      await fleet.kill(other);
      const reply = await fleet.member.lobbies.ask(codes[1] ?? "", {
        type: "read",
        by: { seatId: null, playerId: null },
      });
      assert.ok(reply.ok);
      const acknowledged = await Promise.all(playing);
      for (const [i, code] of codes.entries()) {
        const state = bodyOf(
          await fleet.member.lobbies.ask(code, { type: "read", ...by(1) }),
        ).lobby;
        assert.equal(state.status, "finished");
        for (const player of state.players)
          assert.equal(
            player.score,
            acknowledged[i]?.get(player.id),
            `score of seat ${player.id} in ${code}`,
          );
        await fleet.assertGapless(code);
      }
    });

    it("are taken over from a frozen owner, which can change nothing when it resumes", async () => {
      const other = await fleet.neighbour();
      const [code = ""] = await fleet.codesOf(other.nodeId, 1);
      await startedLobby(fleet.member.lobbies, code, { mode: "coop", questions: 3, seats: [1, 2] });
      other.process.kill("SIGSTOP");
      const lock = await fleet.member.lobbies.ask(code, { type: "lock", index: 0, ...by(1) });
      assert.ok(lock.ok, JSON.stringify(lock));
      const version = await fleet.versionOf(code);
      other.process.kill("SIGCONT");
      await eventually(
        "the thawed worker joins again",
        async () => (await fleet.ownedBy(other.nodeId)) > 0,
      );
      assert.ok((await fleet.versionOf(code)) >= version);
      const reply = await fleet.member.lobbies.ask(code, { type: "next", index: 0, ...by(1) });
      assert.equal(bodyOf(reply).lobby.current_index, 1);
      await fleet.assertGapless(code);
      await fleet.kill(other);
    });

    it("repeat the first answer of a command even after a takeover", async () => {
      const other = await fleet.neighbour();
      const [code = ""] = await fleet.codesOf(other.nodeId, 1);
      await startedLobby(fleet.member.lobbies, code, {
        mode: "versus",
        questions: 2,
        seats: [1, 2],
      });
      const answer = {
        type: "answer",
        selectedIndex: 0,
        claimedMs: 100,
        index: 0,
        ...by(2),
      } as const;
      const first = await fleet.member.lobbies.ask(code, answer, "same-key");
      await fleet.kill(other);
      assert.deepEqual(await fleet.member.lobbies.ask(code, answer, "same-key"), first);
      const again = await fleet.member.lobbies.ask(code, answer, "another-key");
      assert.deepEqual(again, { ok: false, code: "lobby:already_answered" });
    });
  });
  describe("that continue in the meantime", { concurrency: false }, () => {
    let fleet: ProcessFleet;
    before(async () => {
      fleet = await ProcessFleet.start();
    });
    after(() => fleet.stop());

    it("fetch the questions of an endless lobby whose owner died during the draw", async () => {
      const other = await fleet.neighbour("mute");
      const [code = ""] = await fleet.codesOf(other.nodeId, 1);
      await startedLobby(fleet.member.lobbies, code, {
        mode: "coop",
        questions: null,
        seats: [1, 2],
      });
      const next = (index: number) =>
        fleet.member.lobbies.ask(code, { type: "next", index, ...by(1) });
      for (let index = 0; index < 9; index++) bodyOf(await next(index));
      const waiting = await next(9);
      assert.ok(!waiting.ok && waiting.code === "generator:unavailable", "no batch has come");
      await fleet.kill(other);
      await eventually("the new owner has drawn", async () => (await next(9)).ok);
      for (let index = 10; index < 30; index++)
        await eventually(`question ${index + 1}`, async () => (await next(index)).ok);
      const { lobby } = bodyOf(await fleet.member.lobbies.ask(code, { type: "read", ...by(1) }));
      assert.deepEqual([lobby.status, lobby.current_index], ["in_progress", 30]);
      await fleet.assertGapless(code);
    });

    it("are handed over when their owner stops, and games continue meanwhile", async () => {
      const second = await newMember(fleet.stores.redisUrl);
      await fleet.hasShards(second.lobbies.describe().nodeId);
      const codes = await fleet.codesOf(second.lobbies.describe().nodeId, 6);
      for (const code of codes)
        await startedLobby(fleet.member.lobbies, code, {
          mode: "versus",
          questions: 4,
          seats: [1, 2],
        });
      const playing = codes.map((code) => playVersus(fleet.member.lobbies, code, [1, 2], 4));
      await second.lobbies.stop();
      await Promise.all(playing);
      assert.equal(await fleet.ownedBy(fleet.member.lobbies.describe().nodeId), shardCount);
      for (const code of codes) await fleet.assertGapless(code);
    });

    it("continue after Redis was killed and restarted", async () => {
      const [code = ""] = await fleet.codesOf(fleet.member.lobbies.describe().nodeId, 1);
      await startedLobby(fleet.member.lobbies, code, {
        mode: "versus",
        questions: 3,
        seats: [1, 2],
      });
      const playing = playVersus(fleet.member.lobbies, code, [1, 2], 3);
      await fleet.stores.redis.kill();
      await fleet.stores.redis.restart();
      const scores = await playing;
      const state = bodyOf(await fleet.member.lobbies.ask(code, { type: "read", ...by(1) })).lobby;
      assert.equal(state.status, "finished");
      for (const player of state.players) assert.equal(player.score, scores.get(player.id));
      await fleet.assertGapless(code);
    });

    it("close a question whose deadline passed while the lobby had no owner", async () => {
      const late = await newMember(fleet.stores.redisUrl, {
        clock: { now: () => Date.now() + 120_000 },
      });
      const nodeId = late.lobbies.describe().nodeId;
      await fleet.hasShards(nodeId);
      const own = fleet.member.lobbies.describe().nodeId;
      let code = "";
      // Shards may still be moving, and a lobby that starts on the late worker has a deadline by its clock.
      do {
        [code = ""] = await fleet.codesOf(own, 1);
        await startedLobby(fleet.member.lobbies, code, {
          mode: "versus",
          questions: 2,
          seats: [1, 2],
        });
      } while (!(await fleet.redis.get(ownerKey(shardOf(code))))?.startsWith(`${own}|`));
      await fleet.member.lobbies.stop();
      await eventually("the timer went on in the new owner", async () => {
        const last = await fleet.redis.xrevrange(eventStreamKey(code), "+", "-", "COUNT", 1);
        return last[0]?.[1][1]?.includes('{"type":"lobby.started"') === false;
      });
      await late.lobbies.stop();
      fleet.member = await newMember(fleet.stores.redisUrl);
    });
  });
});

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

async function insist(ask: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await ask();
    if (reply.ok || reply.code !== "server:unavailable" || attempt >= 3) return reply;
  }
}
