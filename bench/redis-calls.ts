import type { Redis } from "ioredis";

/** Counters of a Redis. */
export interface RedisCounts {
  /** Calls by command name, including those of scripts. */
  calls: Record<string, number>;
  /** Number of reads from connections: commands that arrive together count as one. */
  reads: number;
  bytesReceived: number;
}

export async function redisCounts(redis: Redis): Promise<RedisCounts> {
  return parseRedisCounts(`${await redis.info("commandstats")}\n${await redis.info("stats")}`);
}

/** Reads the sections `commandstats` and `stats` of INFO. */
export function parseRedisCounts(info: string): RedisCounts {
  const calls = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
    ([, name = "", count]) => [name, Number(count)] as const,
  );
  const value = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  return {
    calls: Object.fromEntries(calls),
    reads: value("total_reads_processed"),
    bytesReceived: value("total_net_input_bytes"),
  };
}

/** Calls by name: those sent by clients, and those made by scripts. */
export interface RedisCalls {
  sent: Record<string, number>;
  inScripts: Record<string, number>;
}

/** Sent after the work: MONITOR shows calls in order. */
const endOfWork = "bench: end of work";

/** Runs `work` while MONITOR shows every call, which slows this Redis down. */
export async function monitorCalls<T>(
  redis: Redis,
  work: () => Promise<T>,
): Promise<[T, RedisCalls]> {
  const calls: RedisCalls = { sent: {}, inScripts: {} };
  const monitor = await redis.monitor();
  const isOver = new Promise<void>((resolve) => {
    const count = (_time: string, args: string[], source: string) => {
      if (args[1] !== endOfWork) return countCall(calls, args, source);
      // Lines still arrive after `disconnect`, and belong to later calls.
      monitor.off("monitor", count);
      resolve();
    };
    monitor.on("monitor", count);
  });
  try {
    const result = await work();
    await redis.echo(endOfWork);
    await isOver;
    return [result, calls];
  } finally {
    monitor.disconnect();
  }
}

/** MONITOR names "lua" as the source of a call by a script. */
function countCall(calls: RedisCalls, [name = ""]: readonly string[], source: string): void {
  const counts = source === "lua" ? calls.inScripts : calls.sent;
  const key = name.toLowerCase();
  counts[key] = (counts[key] ?? 0) + 1;
}
