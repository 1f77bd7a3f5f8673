import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { lobbyKind } from "../../../actors/lobby/rooms.ts";
import type { Lobby, LobbyCommand } from "../../../actors/lobby/types.ts";
import { lobbyKeyspace } from "../../../actors/lobby/keys.ts";
import { erased } from "../../../actors/create-rooms.ts";
import { Rooms } from "../../../actors/rooms.ts";
import { Signal } from "../../../actors/signal.ts";
import type { Timing } from "../../../actors/timing.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { by, context, createCommand, timings } from "./fleet.ts";
import { noOrigin } from "../../../server/platform/origin.ts";

const kind = erased(
  lobbyKind({
    context,
    seatLimit: null,
    enqueueResult: async () => {},
    draw: async () => [],
  }),
);

/** The lobbies of one process with a Redis that replies when the test says so, and a manual clock. */
function createProcess() {
  let now = 1_000_000;
  let sweep = () => {};
  let held: (() => void)[] | null = null;
  const read: Lobby[] = [];
  const timing: Timing = {
    elapsed: () => now,
    after: () => () => {},
    every(_ms, work) {
      sweep = work;
      return () => {};
    },
    soon: (work) => void setImmediate(work),
  };
  const rooms = new Rooms({
    kind,
    keys: lobbyKeyspace,
    redis: { hgetall: async () => ({}), zrem: async () => 0 } as never,
    timing,
    log: silentLogger,
    metrics: createMetrics().rooms("lobby"),
    tracer: null,
    clock: { now: () => now },
    journal: {
      provesUnsent: () => false,
      commit: () =>
        new Promise((resolve) => {
          if (held) held.push(() => resolve("committed"));
          else setImmediate(() => resolve("committed"));
        }),
    },
    followers: { committed: () => undefined, inDoubt: () => undefined },
    leases: {
      acquired: new Signal(),
      released: new Signal(),
      closing: new Signal(),
      restored: new Signal(),
      tokenOf: () => "token",
      confirm: async () => true,
      fenced: () => undefined,
      generationOf: () => 0,
      isIntact: async () => true,
    },
    newId: () => String(Math.random()),
  });
  rooms.loaded.on((_code, state) => read.push(state as Lobby));
  let commands = 0;
  return {
    rooms,
    /** Lobbies that were checked for unfinished work. */
    read,
    ask: (code: string, command: LobbyCommand) =>
      rooms.deliver(code, command, String(++commands), noOrigin),
    async pass(ms: number) {
      for (const end = now + ms; now < end;) {
        now += 100;
        sweep();
        await turn();
      }
    },
    holdStore: () => void (held = []),
    releaseStore() {
      for (const done of held ?? []) done();
      held = null;
    },
  };
}

describe("deadlines of the lobbies in memory", () => {
  it("are retried when the process has too many commands waiting to accept them", async () => {
    const { rooms, ask, pass, holdStore, releaseStore } = createProcess();
    await ask("QUIETT", createCommand("QUIETT", [1]));
    const busy = Array.from({ length: 320 }, (_, i) => `B${String(i).padStart(5, "0")}`);
    await Promise.all(busy.map((code, i) => ask(code, createCommand(code, [i + 2]))));
    holdStore();
    const all = busy.flatMap((code, i) =>
      Array.from({ length: 65 }, () =>
        ask(code, { type: "settings", changes: { timer: 10 }, ...by(i + 2) }),
      ),
    );
    assert.ok(rooms.waiting >= 20_000);
    await pass(timings.staleMs + 1_000);
    releaseStore();
    await Promise.all(all);
    await pass(timings.hostGraceMs + 2_000);
    const quiet = (await rooms.stateOf("QUIETT")) as Lobby | null;
    assert.equal(quiet?.status, "finished");
  });

  it("offer a result again at growing intervals while the queue refuses it", async () => {
    const { ask, pass, read } = createProcess();
    await ask("ENDEDD", createCommand("ENDEDD", [1, 2]));
    await ask("ENDEDD", { type: "end", ...by(1) });
    const offers = () => read.filter((lobby) => lobby.isResultPending).length;
    await pass(4_000);
    const soon = offers();
    assert.ok(soon >= 5 && soon <= 8, `${soon} offers in 4 s`);
    await pass(60_000);
    const later = offers() - soon;
    assert.ok(later >= 15 && later <= 30, `${later} offers in the minute after it`);
  });
});
