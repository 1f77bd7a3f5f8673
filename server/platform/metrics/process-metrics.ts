import { performance } from "node:perf_hooks";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { droppedLogBytes } from "../log/log-output.ts";
import { redisReconnects } from "../redis/redis.ts";
import { buildCommit, serviceVersion } from "../version.ts";
import { measureEventLoopLag } from "./event-loop-lag.ts";

/** Roles of processes as values of the label `role`. */
export type ProcessRole = "http" | "job" | "operator" | "primary";

/** Its gauges are replaced, so the sampler behind them should hardly run. In milliseconds. */
const unusedSampleMs = 3_600_000;

/** The metrics of a process that has no others. */
export function createProcessRegistry(role: ProcessRole): Registry {
  const registry = new Registry();
  measureProcess(registry, role);
  return registry;
}

/**
 * Metrics that every process has: memory, processor time and garbage collection by prom-client, event loop lag, build,
 * lost log lines and connections. All metrics of the registry get the label `role`.
 */
export function measureProcess(registry: Registry, role: ProcessRole): void {
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: unusedSampleMs });
  measureEventLoopLag(registry);
  describeBuild(registry);
  countLosses([registry]);
}

function describeBuild(registry: Registry): void {
  const name = "process_start_time_seconds";
  // Prom-client leaves it out of sums over processes.
  registry.removeSingleMetric(name);
  new Gauge({
    name,
    help: "Latest start of a process of the role, in seconds since 1970; that of the primary is the start of the instance",
    aggregator: "max",
    registers: [registry],
  }).set(Math.round(performance.timeOrigin / 1_000));
  new Gauge({
    name: "emberline_build_info",
    help: "1, with the version and the commit of the running build",
    labelNames: ["version", "commit"],
    aggregator: "max",
    registers: [registry],
  }).set({ version: serviceVersion, commit: buildCommit }, 1);
}

function countLosses(registers: Registry[]): void {
  new Counter({
    name: "emberline_log_dropped_bytes_total",
    help: "Log lines dropped because nobody read standard output",
    registers,
    collect() {
      this.reset();
      this.inc(droppedLogBytes());
    },
  });
  new Counter({
    name: "emberline_redis_reconnects_total",
    help: "Redis connections that were lost and made again, by the name of the connection",
    labelNames: ["connection"],
    registers,
    collect() {
      this.reset();
      for (const [connection, count] of redisReconnects()) this.inc({ connection }, count);
    },
  });
}
