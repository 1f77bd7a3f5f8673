/** Number of shards; must never change, because every stored key contains its shard. */
export const shardCount = 1024;
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

/** The key prefixes of all kinds that ever ran on this Redis. */
export const kindsKey = "actor-kinds";

/** FNV-1a with a final avalanche, so that similar codes land on different shards. */
export function hashText(text: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export function shardOf(code: string): number {
  return hashText(code) % shardCount;
}

/**
 * Keys and channels of one kind of room. Every key of a room shares the hash tag of its shard, so that
 * one script can access them all on Redis Cluster.
 */
export class Keyspace {
  /** Membership of the processes: node id -> Redis time of the last heartbeat. */
  readonly workers: string;
  /** Nodes that are leaving; in the same slot as `workers`. */
  readonly leaving: string;
  /** Node id -> its dedicated port; in the same cluster slot as the other keys. */
  readonly ports: string;
  readonly deadChannel: string;
  readonly mapChannel: string;
  readonly #prefix: string;

  /** `prefix` distinguishes the kinds; the first kind has none. */
  constructor(prefix: string) {
    this.#prefix = prefix;
    this.workers = `${prefix}workers`;
    this.leaving = `{${prefix}workers}:leaving`;
    this.ports = `{${prefix}workers}:ports`;
    this.deadChannel = `${prefix}dead`;
    this.mapChannel = `${prefix}map`;
  }

  owner = (shard: number): string => `${this.#prefix}{${shard}}:own`;
  epoch = (shard: number): string => `${this.#prefix}{${shard}}:epoch`;
  due = (shard: number): string => `${this.#prefix}{${shard}}:due`;
  history = (shard: number): string => `${this.#prefix}{${shard}}:history`;
  /** The last owners, for operators. */
  owners = (shard: number): string => `${this.#prefix}{${shard}}:owners`;
  state = (code: string): string => `${this.#prefix}{${shardOf(code)}}:l:${code}`;
  stream = (code: string): string => `${this.#prefix}{${shardOf(code)}}:e:${code}`;
  channel = (code: string): string => `${this.#prefix}{${shardOf(code)}}:ev:${code}`;
  workerChannel = (nodeId: string): string => `${this.#prefix}w:${nodeId}`;
}

/** Keys of an index: code -> entry, and codes by creation time; one script writes both. */
export const indexKeys = (name: string) => ({
  entries: `{${name}}:public`,
  order: `{${name}}:order`,
  removed: (code: string) => `{${name}}:unlisted:${code}`,
});
