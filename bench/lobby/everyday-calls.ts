import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { monitorCalls, type RedisCalls } from "../redis-calls.ts";
import { note, type Table } from "../report.ts";
import { countSystemCalls } from "../system-calls.ts";
import { mapValues, sum, type Amounts } from "./amounts.ts";
import type { Side } from "./everyday-sides.ts";

/** Calls of one side per command, by name. */
export interface CountedCalls {
  /** System calls of the serving processes; null where they may not be traced. */
  system: Amounts | null;
  redis: RedisCalls;
}

/** Runs `work` under strace and MONITOR, which slow it down but do not change its calls. */
export async function countCalls(
  side: Side,
  canTrace: boolean,
  work: () => Promise<{ commands: number }>,
): Promise<CountedCalls> {
  const traced = () =>
    canTrace ? countSystemCalls(side.pids()[side.servedBy] ?? [], work) : withoutTrace(work);
  const [[{ commands }, system], redis] = await monitored(side, traced);
  const perCommand = (amounts: Amounts) => mapValues(amounts, (count) => count / commands);
  if (canTrace && system === null) note(`${side.name}: strace may not trace its processes`);
  return {
    system: system && perCommand(system),
    redis: { sent: perCommand(redis.sent), inScripts: perCommand(redis.inScripts) },
  };
}

const withoutTrace = async <T>(work: () => Promise<T>): Promise<[T, null]> => [await work(), null];

async function monitored<T>(side: Side, work: () => Promise<T>): Promise<[T, RedisCalls]> {
  if (side.redisUrl === null) return [await work(), { sent: {}, inScripts: {} }];
  const redis = connectRedis(side.redisUrl, silentLogger, "bench");
  try {
    await redisReady(redis);
    return await monitorCalls(redis, work);
  } finally {
    redis.disconnect();
  }
}

/** Calls by name, one column per side. */
export function callTables(counted: ReadonlyMap<string, CountedCalls>, rate: number): Table[] {
  const system = [...counted].map(([side, calls]) => [side, calls.system ?? {}] as const);
  const redis = [...counted].map(([side, calls]) => {
    const inScripts = Object.entries(calls.redis.inScripts);
    const named = inScripts.map(([name, count]) => [`${name} (in scripts)`, count] as const);
    return [side, { ...calls.redis.sent, ...Object.fromEntries(named) }] as const;
  });
  return [
    columnTable(
      `everyday: system calls of the serving processes for each command at ${rate}/s, by strace in a run of its own`,
      "system call",
      system,
    ),
    columnTable(
      `everyday: calls that Redis received, and those its scripts made, for each command at ${rate}/s, by MONITOR in a run of its own`,
      "Redis call",
      redis,
    ),
  ].filter(({ rows }) => rows.length > 2);
}

/** Calls that are rarer on every side are summed in a last row. */
const minShown = 0.05;

function columnTable(
  title: string,
  what: string,
  columns: readonly (readonly [side: string, amounts: Amounts])[],
): Table {
  const most = new Map<string, number>();
  for (const [, amounts] of columns)
    for (const [name, value] of Object.entries(amounts))
      most.set(name, Math.max(value, most.get(name) ?? 0));
  const shown = [...most]
    .filter(([, value]) => value >= minShown)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name]) => name);
  const row = (name: string, of: (amounts: Amounts) => number | undefined) => [
    name,
    ...columns.map(([, amounts]) => of(amounts)?.toFixed(2) ?? ""),
  ];
  const sumOf = (amounts: Amounts, names: readonly string[]) =>
    names.reduce((total, name) => total + (amounts[name] ?? 0), 0);
  return {
    title,
    head: [what, ...columns.map(([side]) => side)],
    rows: [
      row("all", sum),
      ...shown.map((name) => row(name, (amounts) => amounts[name])),
      row("others", (amounts) => sum(amounts) - sumOf(amounts, shown)),
    ],
  };
}
