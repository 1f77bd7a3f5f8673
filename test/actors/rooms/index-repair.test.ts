import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Leases } from "../../../actors/cluster/leases.ts";
import { lobbyIndex } from "../../../actors/lobby/index-entry.ts";
import { IndexKeeper } from "../../../actors/log/index-keeper.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import type { Rooms } from "../../../actors/rooms.ts";
import { Signal } from "../../../actors/signal.ts";
import { systemTiming } from "../../../actors/timing.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import {
  bodyOf,
  by,
  context,
  createCommand,
  newMember,
  startedLobby,
  type Member,
} from "./fleet.ts";

describe("the lobby index when its connection breaks", () => {
  let stores: TestStores;
  let redis: Redis;
  let member: Member;

  before(async () => {
    stores = await testStores();
    redis = new Redis({ path: stores.redisUrl.replace("unix://", "") });
    member = await newMember(stores.redisUrl);
  });
  after(async () => {
    await member.lobbies.stop();
    redis.disconnect();
    await stores.stop();
  });

  /** Commits have a separate connection, which stays open. */
  async function cutListConnection(): Promise<void> {
    const clients = String(await redis.client("LIST")).split("\n");
    const line = clients.find((one) => one.includes("name=lobby-control")) ?? "";
    await redis.client("KILL", "ID", /^id=(\d+)/.exec(line)?.[1] ?? "");
  }

  const isListed = async (code: string) => {
    const list = JSON.parse(await member.lobbies.listIndex()) as { code: string }[];
    return list.some((lobby) => lobby.code === code);
  };

  /** The connection may be down during the read. */
  async function untilUnlisted(code: string): Promise<void> {
    while (await isListed(code).catch(() => true)) await delay(20);
  }

  it("drops a lobby that finished in the meantime", async () => {
    await startedLobby(member.lobbies, "AAAAAA", { mode: "coop", questions: 3, seats: [1, 2] });
    assert.ok(await isListed("AAAAAA"));
    await cutListConnection();
    bodyOf(await member.lobbies.ask("AAAAAA", { type: "end", ...by(1) }));
    await untilUnlisted("AAAAAA");
  });

  it("drops a lobby that became private in the meantime", async () => {
    bodyOf(await member.lobbies.ask("BBBBBB", createCommand("BBBBBB", [11])));
    await cutListConnection();
    bodyOf(
      await member.lobbies.ask("BBBBBB", {
        type: "settings",
        changes: { visibility: "private" },
        ...by(11),
      }),
    );
    await untilUnlisted("BBBBBB");
  });
});

describe("repairs of lobby index entries", () => {
  it("are retried until they are written, and a failing entry does not delay the others", async () => {
    const written = new Set<string>();
    const acquired: Leases["acquired"] = new Signal();
    const doubted: Rooms["doubted"] = new Signal();
    let refusals = 0;
    await new Promise<void>((done) => {
      const repair = (code: string) => {
        written.add(code);
        if (written.size === 3) done();
        return 1;
      };
      new IndexKeeper(lobbyIndex(context), {
        kind: { read: { type: "read" }, notFound: "lobby:not_found" } as never,
        log: silentLogger,
        timing: { ...systemTiming, after: (_ms, work) => (setImmediate(work), () => undefined) },
        redis: {
          zrange: async () => ["LISTED"],
          evalsha: async (_sha: string, _keyCount: number, ...args: unknown[]) =>
            repair(String(args[3])),
        } as never,
        leases: { acquired, tokenOf: () => "token" },
        rooms: { committed: new Signal(), doubted, stateOf: async () => null },
        router: {
          async ask(code) {
            if (code !== "FAILED" || refusals === 2) return { ok: false, code: "lobby:not_found" };
            refusals += 1;
            throw new Error("away");
          },
        },
      });
      acquired.emit(shardOf("LISTED"), false, []);
      for (const code of ["FAILED", "FAILED", "OTHERS"]) doubted.emit(code);
    });
    assert.deepEqual([...written], ["OTHERS", "LISTED", "FAILED"]);
    assert.equal(refusals, 2);
  });
});
