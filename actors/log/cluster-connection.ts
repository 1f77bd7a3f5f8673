import type { Cluster, Redis } from "ioredis";
import { nodesOf, slotOf } from "../../server/platform/redis/cluster-slots.ts";
import { asCluster } from "../../server/platform/redis/redis.ts";
import type { Connection } from "./connection.ts";

/** The connection that the runtime uses: a single Redis unchanged, a cluster with its differences hidden. */
export function connectionOf(redis: Redis): Connection {
  const cluster = asCluster(redis);
  return cluster ? clusterConnection(cluster) : redis;
}

function clusterConnection(cluster: Cluster): Connection {
  return {
    isSharded: true,
    evalsha: (sha, keyCount, ...args) => cluster.evalsha(sha, keyCount, ...args),
    eval: (script, keyCount, ...args) => cluster.eval(script, keyCount, ...args),
    get: (key) => cluster.get(key),
    mget: (keys) => getMany(cluster, keys),
    hgetall: (key) => cluster.hgetall(key),
    hmget: (key, ...fields) => cluster.hmget(key, ...fields),
    zrange: (key: string, start: string, stop: string, scores?: "WITHSCORES") =>
      scores ? cluster.zrange(key, start, stop, scores) : cluster.zrange(key, start, stop),
    zrevrange: (key, start, stop) => cluster.zrevrange(key, start, stop),
    zscore: (key, member) => cluster.zscore(key, member),
    lrange: (key, start, stop) => cluster.lrange(key, start, stop),
    xrevrange: (key, end, start, count, limit) => cluster.xrevrange(key, end, start, count, limit),
    zrem: (key, member) => cluster.zrem(key, member),
    info: (section) => infoOf(cluster, section),
    publish: (channel, message) => cluster.spublish(channel, message).then(Number),
  };
}

async function infoOf(cluster: Cluster, section: string): Promise<string> {
  const ends = await Promise.allSettled(cluster.nodes("master").map((node) => node.info(section)));
  return ends.map((end) => (end.status === "fulfilled" ? end.value : "")).join("");
}

/** One pipeline per group of slots served together; a failed pipeline leaves its values undefined. */
async function getMany(cluster: Cluster, keys: string[]): Promise<(string | null | undefined)[]> {
  const groups = new Map<string, number[]>();
  keys.forEach((key, i) => {
    const nodes = nodesOf(cluster, slotOf(key)).join();
    const group = groups.get(nodes);
    if (group) group.push(i);
    else groups.set(nodes, [i]);
  });
  const values: (string | null | undefined)[] = keys.map(() => undefined);
  const read = async (indexes: number[]): Promise<void> => {
    const batch = cluster.pipeline();
    for (const i of indexes) batch.get(keys[i] ?? "");
    const replies = (await batch.exec()) ?? [];
    indexes.forEach((index, n) => {
      const [error, value] = replies[n] ?? [new Error("no answer"), null];
      if (error) throw error;
      values[index] = typeof value === "string" ? value : null;
    });
  };
  const ends = await Promise.allSettled([...groups.values()].map(read));
  const failed = ends.filter((end) => end.status === "rejected");
  if (failed[0] && failed.length === ends.length) throw failed[0].reason;
  return values;
}
