/** Number of shards; fixed for good, because every stored key carries its shard. */
export const shardCount = 1024;
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

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

// Every key of one lobby shares the hash tag of its shard, so that one script may touch them all on Redis Cluster.
export const ownerKey = (shard: number) => `{${shard}}:own`;
export const epochKey = (shard: number) => `{${shard}}:epoch`;
export const dueKey = (shard: number) => `{${shard}}:due`;
export const historyKey = (shard: number) => `{${shard}}:history`;
export const lobbyKey = (code: string) => `{${shardOf(code)}}:l:${code}`;
export const eventStreamKey = (code: string) => `{${shardOf(code)}}:e:${code}`;
export const eventChannel = (code: string) => `{${shardOf(code)}}:ev:${code}`;

/** All keys a commit needs. */
export function keysOf(code: string) {
  const shard = shardOf(code);
  return {
    owner: ownerKey(shard),
    due: dueKey(shard),
    lobby: `{${shard}}:l:${code}`,
    stream: `{${shard}}:e:${code}`,
    channel: `{${shard}}:ev:${code}`,
  };
}

/** Liveness of worker incarnations: member -> Redis time of the last heartbeat. */
export const workersKey = "workers";
/** Those of them that give their shards away; beside the others in a cluster. */
export const leavingKey = "{workers}:leaving";
/** Public unfinished lobbies: code -> listing, and code by creation time; one script writes both. */
export const publicListKey = "{lobbies}:public";
export const publicOrderKey = "{lobbies}:order";
export const unlistedKey = (code: string) => `{lobbies}:unlisted:${code}`;

export const deadChannel = "dead";
export const mapChannel = "map";
export const publicListChannel = "lobbies";
export const workerChannel = (incarnation: string) => `w:${incarnation}`;
