import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { publishNodeDown } from "../../../actors/index.ts";
import { shardCount, shardOf } from "../../../actors/log/keys.ts";
import { lobbyKeyPrefix } from "../../../actors/lobby/actor.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { forked } from "../../support/forked.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { newMember, type Member } from "./fleet.ts";
import { eventStreamKey, lobbyKey, ownerKey } from "../../support/lobby-keys.ts";

export interface Neighbour {
  process: ChildProcess;
  nodeId: string;
}

/** Workers in several processes on stores of their own; one worker is in this process. */
export class ProcessFleet {
  readonly stores: TestStores;
  readonly redis: Redis;
  member: Member;
  #codeCount = 0;

  /** `options` of the worker in this process. */
  static async start(options: Parameters<typeof newMember>[1] = {}): Promise<ProcessFleet> {
    const stores = await testStores();
    return new ProcessFleet(stores, await newMember(stores.redisUrl, options));
  }

  private constructor(stores: TestStores, member: Member) {
    this.stores = stores;
    this.member = member;
    this.redis = new Redis({ path: stores.redisUrl.replace("unix://", "") });
    this.redis.on("error", () => {});
  }

  /** A worker in another process, once it has its shards. */
  async neighbour(kind = ""): Promise<Neighbour> {
    const args = [this.stores.redisUrl, kind];
    const child = forked(new URL("./member-process.ts", import.meta.url), args);
    const [message] = (await once(child, "message")) as [{ nodeId: string }];
    await this.hasShards(message.nodeId);
    return { process: child, nodeId: message.nodeId };
  }

  hasShards(nodeId: string): Promise<void> {
    const isSo = async () => (await this.ownedBy(nodeId)) > shardCount / 4;
    return until(isSo, "the worker has its shards");
  }

  async ownedBy(nodeId: string): Promise<number> {
    const owners = await this.redis.mget(
      Array.from({ length: shardCount }, (_, shard) => ownerKey(shard)),
    );
    return owners.filter((owner) => owner?.startsWith(`${nodeId}|`)).length;
  }

  /** Codes whose shard this worker owns. */
  async codesOf(nodeId: string, count: number): Promise<string[]> {
    const codes: string[] = [];
    while (codes.length < count) {
      const code = `T${(this.#codeCount++).toString(36).toUpperCase().padStart(5, "A")}`;
      const owner = await this.redis.get(ownerKey(shardOf(code)));
      if (owner?.startsWith(`${nodeId}|`)) codes.push(code);
    }
    return codes;
  }

  /** Kills a worker, and announces it like a primary when one of its processes has exited. */
  async kill({ process, nodeId }: Neighbour): Promise<void> {
    process.kill("SIGKILL");
    await once(process, "exit");
    await publishNodeDown(this.redis, { keyPrefix: lobbyKeyPrefix, nodeId }, silentLogger);
  }

  async versionOf(code: string): Promise<number> {
    return Number.parseInt((await this.redis.hget(lobbyKey(code), "v")) ?? "0", 10);
  }

  async assertGapless(code: string): Promise<void> {
    const entries = await this.redis.xrange(eventStreamKey(code), "-", "+");
    entries.forEach(([id], i) => assert.equal(id, `${i + 1}-0`));
  }

  async stop(): Promise<void> {
    await this.member.lobbies.stop();
    this.redis.disconnect();
    await this.stores.stop();
  }
}

export async function until(
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
