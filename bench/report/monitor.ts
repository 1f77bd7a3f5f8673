import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Redis } from "ioredis";
import { Pool } from "pg";
import { cpuMicros, everybody, residentKib, treeByKind, type Everybody } from "../processes.ts";
import type { Target } from "../target.ts";
import type { Series } from "./schema.ts";

const everyMs = 1_000;
/** A source that answers later than this is left out of the sample. */
const sourceMs = 900;

/** Values of one sample: "unit|name" -> value. Counters end in "/s" and are stored as differences. */
type Sample = Map<string, number>;
interface Source {
  read(): Promise<Sample>;
  close(): void;
}

/** Samples the machine, the target and the generators every second, on the time axis of the run. */
export class Monitor {
  readonly #sources: Source[];
  readonly #points = new Map<string, [number, number][]>();
  readonly #last = new Map<string, { at: number; value: number }>();
  #timer: NodeJS.Timeout | null = null;
  #startedAt = 0;

  constructor(target: Target, generatorPids: readonly number[]) {
    const { instance, operator, floor } = target;
    const own = { generator: generatorPids, floor: [floor.pid] };
    this.#sources = [machineSource(), processSource(() => own)];
    if (instance)
      this.#sources.push(
        processSource(() => treeByKind(instance.pid)),
        redisSource(instance.redisUrl),
        postgresSource(instance.databaseUrl),
      );
    else if (operator) this.#sources.push(metricsSource(operator));
  }

  /** `startedAt`: of the load, by `performance.now()`. */
  start(startedAt: number): void {
    this.#startedAt = startedAt;
    this.#timer = setInterval(() => void this.#sample(), everyMs).unref();
  }

  stop(): Series[] {
    if (this.#timer) clearInterval(this.#timer);
    for (const source of this.#sources) source.close();
    return [...this.#points].map(([key, points]) => {
      const [unit = "", name = ""] = key.split("|");
      return { name, unit, points };
    });
  }

  async #sample(): Promise<void> {
    await Promise.all(
      this.#sources.map(async (source) => {
        const late = AbortSignal.timeout(sourceMs);
        const sample = await source.read().catch(() => null);
        if (sample === null || late.aborted) return;
        const at = (performance.now() - this.#startedAt) / 1000;
        for (const [key, value] of sample) this.#add(key, at, value);
      }),
    );
  }

  #add(key: string, at: number, value: number): void {
    const isCounter = key.includes("/s|") || key.startsWith("cores|");
    const last = this.#last.get(key);
    this.#last.set(key, { at, value });
    if (isCounter && !last) return;
    // Processes that ended take their counts with them.
    const shown = last && isCounter ? Math.max(0, value - last.value) / (at - last.at) : value;
    const points = this.#points.get(key) ?? [];
    this.#points.set(key, points);
    points.push([round(at), round(shown)]);
  }
}

const round = (value: number) => Math.round(value * 1000) / 1000;
const none = () => undefined;

function machineSource(): Source {
  return {
    close: none,
    async read() {
      const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
      const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
      const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ticks;
      return new Map([
        ["cores|machine, all processes", (user + nice + system + irq + softirq) / 100],
      ]);
    },
  };
}

/** By name or role of the processes. */
function processSource(pids: () => Readonly<Record<string, readonly number[]>>): Source {
  return {
    close: none,
    async read() {
      const sample: Sample = new Map();
      for (const [kind, some] of Object.entries(pids())) {
        sample.set(`cores|${kind}`, cpuMicros(some) / 1e6);
        sample.set(`MiB|${kind}`, residentKib(some) / 1024);
      }
      return sample;
    },
  };
}

function redisSource(url: string): Source {
  const redis = new Redis(url.replace(/^unix:\/\//, ""), { maxRetriesPerRequest: 0 });
  redis.on("error", none);
  return {
    close: () => redis.disconnect(),
    async read() {
      const info = await redis.info();
      const field = (name: string) =>
        Number(new RegExp(`^${name}[:=]([\\d.]+)`, "m").exec(info)?.[1] ?? 0);
      return new Map([
        ["commands/s|Redis commands", field("total_commands_processed")],
        ["MiB|Redis data", field("used_memory") / 2 ** 20],
        ["keys|Redis keys", field("db0:keys")],
      ]);
    },
  };
}

const statistics = `select sum(xact_commit)::float8 as "transactions/s|Postgres commits",
  sum(xact_rollback)::float8 as "transactions/s|Postgres rollbacks",
  (select count(*)::float8 from pg_stat_activity where state = 'active') as "sessions|Postgres at work"
  from pg_stat_database`;

/** The pool connects anew after an error, because a fault may restart the server. */
function postgresSource(url: string): Source {
  const pool = new Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
  pool.on("error", none);
  return {
    close: () => void pool.end().catch(none),
    async read() {
      const { rows } = await pool.query<Record<string, number>>(statistics);
      return new Map(Object.entries(rows[0] ?? {}));
    },
  };
}

/** Names of `/metrics` that are shown, by role. */
const shownMetrics: readonly [metric: string, unit: string, name: string, scale: number][] = [
  ["process_cpu_seconds_total", "cores", "processes", 1],
  ["process_resident_memory_bytes", "MiB", "processes", 2 ** -20],
  ["emberline_http_requests_total", "requests/s", "requests", 1],
  ["emberline_hub_streams", "streams", "streams", 1],
  ["emberline_rooms", "rooms", "rooms", 1],
  ["emberline_room_commits_total", "commands/s", "commits to Redis", 1],
  ["emberline_postgres_pool_waiting", "sessions", "waiting for Postgres", 1],
];

/** What the operator listener of somebody else's instance says about its processes and stores. */
function metricsSource({ url, token }: { url: string; token: string | null }): Source {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return {
    close: none,
    async read() {
      const signal = AbortSignal.timeout(sourceMs);
      const response = await fetch(`${url}/metrics`, { headers: { ...authorization }, signal });
      if (!response.ok) throw new Error(`/metrics answers ${response.status}`);
      return metricsOf(await response.text());
    },
  };
}

export function metricsOf(text: string): Map<string, number> {
  const sample: Sample = new Map();
  for (const [metric, unit, name, scale] of shownMetrics)
    for (const [, labels = "", value] of text.matchAll(
      new RegExp(`^${metric}(?:\\{([^}]*)\\})? ([\\d.e+-]+)`, "gm"),
    )) {
      const role = /\brole="(\w+)"/.exec(labels)?.[1] ?? "service";
      const key = `${unit}|${name} (${role})`;
      sample.set(key, (sample.get(key) ?? 0) + Number(value) * scale);
    }
  return sample;
}

/** Processes that are no part of the run and used more of a core than this are named. */
const neighbourShare = 0.1;
const maxNeighbours = 5;

/** Who else used the processor: "stress 0.9 cores". `own` are the pids of the run. */
export function neighboursOf(
  before: Everybody,
  seconds: number,
  own: ReadonlySet<number>,
): string[] {
  return [...everybody()]
    .map(([pid, [name, used]]) => ({
      pid,
      name,
      cores: (used - (before.get(pid)?.[1] ?? 0)) / seconds,
    }))
    .filter(({ pid, cores }) => !own.has(pid) && cores > neighbourShare)
    .toSorted((a, b) => b.cores - a.cores)
    .slice(0, maxNeighbours)
    .map(({ name, cores }) => `${name} ${cores.toFixed(1)} of ${availableParallelism()} cores`);
}
