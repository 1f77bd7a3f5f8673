import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Redis } from "ioredis";
import { publishNodeDown } from "../../actors/index.ts";
import { targetOwners } from "../../actors/cluster/owners.ts";
import { lobbyKeyPrefix } from "../../actors/lobby/actor.ts";
import { shardCount, shardOf } from "../../actors/log/keys.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { eventually } from "./eventually.ts";
import { forked } from "./forked.ts";
import { eventStreamKey, lobbyKey, ownerKey } from "./lobby-keys.ts";

/** A worker in a separate process that shares the lobbies. */
export interface Neighbour {
  process: ChildProcess;
  nodeId: string;
}

const program = new URL("../actors/rooms/member-process.ts", import.meta.url);

/** Workers in processes of their own, and the lobbies that they share on a Redis. */
export class Neighbours {
  readonly redis: Redis;
  readonly #redisUrl: string;
  #codeCount = 0;

  constructor(redis: Redis, redisUrl: string) {
    this.redis = redis;
    this.#redisUrl = redisUrl;
  }

  /** A further worker, once it has its shards. */
  async neighbour(kind = ""): Promise<Neighbour> {
    const child = forked(program, [this.#redisUrl, kind]);
    const [{ nodeId }] = (await once(child, "message")) as [{ nodeId: string }];
    await this.hasShards(nodeId);
    return { process: child, nodeId };
  }

  /** Kills a worker, and announces it like a primary when one of its processes has exited. */
  async kill({ process, nodeId }: Neighbour): Promise<void> {
    const exited = once(process, "exit");
    process.kill("SIGKILL");
    await exited;
    await publishNodeDown(this.redis, { keyPrefix: lobbyKeyPrefix, nodeId }, silentLogger);
  }

  /** Records of all shards; the record of a free one is empty. */
  async owners(): Promise<(string | null)[]> {
    return this.redis.mget(Array.from({ length: shardCount }, (_, shard) => ownerKey(shard)));
  }

  async ownedBy(nodeId: string): Promise<number> {
    return (await this.owners()).filter((owner) => owner?.startsWith(`${nodeId}|`)).length;
  }

  hasShards(nodeId: string): Promise<void> {
    const isSo = async () => (await this.ownedBy(nodeId)) > shardCount / 4;
    return eventually("the worker has its shards", isSo);
  }

  /** Whether each shard is owned by its target among these workers. */
  async isBalanced(nodeIds: string[]): Promise<boolean> {
    const wanted = targetOwners(nodeIds);
    return (await this.owners()).every((owner, shard) => owner?.startsWith(`${wanted[shard]}|`));
  }

  /** Unused codes whose shard this worker owns. */
  async codesOf(nodeId: string, count: number): Promise<string[]> {
    const codes: string[] = [];
    while (codes.length < count) {
      const code = `T${(this.#codeCount++).toString(36).toUpperCase().padStart(5, "A")}`;
      const owner = await this.redis.get(ownerKey(shardOf(code)));
      if (owner?.startsWith(`${nodeId}|`)) codes.push(code);
    }
    return codes;
  }

  async versionOf(code: string): Promise<number> {
    return Number.parseInt((await this.redis.hget(lobbyKey(code), "v")) ?? "0", 10);
  }

  /** How many messages of this type the lobby has published. */
  async countOf(code: string, type: string): Promise<number> {
    const entries = await this.redis.xrange(eventStreamKey(code), "-", "+");
    const types = entries.map(([, [, message = ""]]) => {
      const { type } = JSON.parse(message.slice(message.indexOf("\n"))) as { type: string };
      return type;
    });
    return types.filter((one) => one === type).length;
  }

  async assertGapless(code: string): Promise<void> {
    const entries = await this.redis.xrange(eventStreamKey(code), "-", "+");
    entries.forEach(([id], i) => assert.equal(id, `${i + 1}-0`));
  }
}
