import assert from "node:assert/strict";
import { it } from "node:test";
import { erased } from "../../../actors/create-rooms.ts";
import { defineRoom } from "../../../actors/kind.ts";
import type { Commit, CommitResult } from "../../../actors/log/journal.ts";
import { Keyspace } from "../../../actors/log/keys.ts";
import { notOwner } from "../../../actors/outcome.ts";
import { Room, type RoomHost } from "../../../actors/room.ts";
import { Signal } from "../../../actors/signal.ts";
import { systemTiming } from "../../../actors/timing.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { noOrigin } from "../../../server/platform/origin.ts";
import { counterRules, target, type Command } from "../kinds/counter.ts";

/** A room of a shard that this process owns, whose load from Redis lasts until `loaded`; `results` of its commits. */
function loadingRoom(publishedSeq: number, ...results: CommitResult[]) {
  const commits: Commit[] = [];
  const { promise: fields, resolve: loaded } = Promise.withResolvers<Record<string, string>>();
  const host: RoomHost = {
    kind: erased(defineRoom(counterRules)),
    keys: new Keyspace("counter:"),
    timing: systemTiming,
    log: silentLogger,
    tracer: null,
    clock: { now: () => 1_000 },
    newId: () => "id",
    redis: { hgetall: () => fields },
    journal: {
      commit: async (commit) => {
        commits.push(commit);
        return results.shift() ?? "committed";
      },
      provesUnsent: (result) => result === "silent",
    },
    followers: { committed: () => undefined, inDoubt: () => undefined },
    leases: {
      tokenOf: () => "w1|1",
      generationOf: () => 0,
      isIntact: async () => false,
      confirm: async () => true,
      fenced: () => undefined,
    },
    ticker: { arm: () => undefined },
    metrics: createMetrics().rooms("counter"),
    queue: { length: 0 },
    committed: new Signal(),
    doubted: new Signal(),
    loaded: new Signal(),
    remove: () => undefined,
  };
  const room = new Room(host, "AAAAAA", 1, { seq: publishedSeq, unacknowledgedSeq: 0 });
  return { room, commits, loaded };
}

/** Redis has lost the events after number 2. */
const state = { seq: 2, count: target - 1, skipped: 0, turnEndsAt: 2_000, status: "running" };
const stored = { v: "3 id3", sv: "3", s: JSON.stringify(state) };

const numbers = (commits: readonly Commit[]) => commits.map(({ seq }) => seq);

it("a room that is loaded skips the numbers of lost events", async () => {
  const { room, commits, loaded } = loadingRoom(4);
  const reply = room.take(counterRules.read, "read", noOrigin);
  loaded(stored);
  assert.notEqual(await reply, notOwner);
  assert.deepEqual(numbers(commits), [6]);
});

it("a room whose shard is lost while it is loaded commits nothing more", async () => {
  const { room, commits, loaded } = loadingRoom(4);
  const reply = room.take(counterRules.read, "read", noOrigin);
  room.drop();
  assert.equal(await reply, notOwner);
  loaded(stored);
  await room.idle();
  await new Promise(setImmediate);
  assert.deepEqual(commits, []);
});

it("a room whose commit was refused skips its numbers if Redis may have lost them", async () => {
  const last: Command = { type: "count", by: 1 };
  const { room, commits, loaded } = loadingRoom(0, "conflict");
  loaded(stored);
  // The answer may be that to a second try: Redis had published the events of the first one and lost it.
  assert.equal(await room.take(last, "count", noOrigin), notOwner);
  assert.notEqual(await room.take(last, "count", noOrigin), notOwner);
  assert.deepEqual(numbers(commits), [4, 6, 8]);
});

it("a room whose commit was not even sent reuses its numbers", async () => {
  const last: Command = { type: "count", by: 1 };
  const { room, commits, loaded } = loadingRoom(0, "silent");
  loaded(stored);
  assert.equal(await room.take(last, "count", noOrigin), notOwner);
  assert.notEqual(await room.take(last, "count", noOrigin), notOwner);
  assert.deepEqual(numbers(commits), [4, 4]);
});
