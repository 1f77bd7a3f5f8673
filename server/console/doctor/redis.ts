import type { Redis } from "ioredis";
import { parseRedisInfo } from "../../platform/redis/redis-info.ts";
import { advice, finding, type Finding } from "./finding.ts";

export interface RedisFacts {
  info: ReadonlyMap<string, string>;
  /** This machine's clock minus that of Redis. */
  clockOffsetMs: number;
}

/** Tokens and leases compare times of several machines. */
const maxClockOffsetMs = 500;
const maxMemoryShare = 0.8;
const percent = 100;

export async function readRedis(redis: Redis): Promise<RedisFacts> {
  const info = parseRedisInfo(await redis.info());
  const before = Date.now();
  const [seconds, microseconds] = await redis.time();
  const here = (before + Date.now()) / 2;
  const there = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return { info, clockOffsetMs: Math.round(here - there) };
}

export function redisFindings({ info, clockOffsetMs }: RedisFacts): Finding[] {
  const policy = info.get("maxmemory_policy") ?? "unknown";
  const isKept = info.get("aof_enabled") === "1";
  return [
    finding(
      "Redis eviction",
      policy !== "noeviction" && {
        found: `maxmemory-policy is ${policy}: rooms and jobs may vanish`,
        todo: "config set maxmemory-policy noeviction, and in its configuration",
      },
      "maxmemory-policy is noeviction",
    ),
    finding(
      "Redis persistence",
      !isKept && {
        found: "Redis has no append-only file: a restart loses rooms and jobs",
        todo: "config set appendonly yes, and in its configuration",
      },
      "append-only file",
    ),
    memoryFinding(Number(info.get("used_memory")), Number(info.get("maxmemory"))),
    finding(
      "clock",
      Math.abs(clockOffsetMs) >= maxClockOffsetMs && {
        found: `the clock of this machine is ${clockOffsetMs} ms ahead of that of Redis`,
        todo: "synchronize both with a time server",
      },
      `${clockOffsetMs} ms ahead of that of Redis`,
    ),
  ];
}

function memoryFinding(used: number, most: number): Finding {
  const check = "Redis memory";
  if (!(most > 0))
    return advice(
      check,
      {
        found: "maxmemory is not set: Redis grows until the system kills it",
        todo: "set maxmemory to what the machine can spare; writes are refused beyond it",
      },
      "",
    );
  const share = Math.round((used / most) * percent);
  const found = `${share} % of maxmemory are used`;
  const isFull = used > maxMemoryShare * most;
  return advice(
    check,
    isFull && { found, todo: "raise maxmemory before writes are refused" },
    found,
  );
}
