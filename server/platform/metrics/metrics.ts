import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { createActorMetrics, type ActorMetrics } from "./actor-metrics.ts";
import { droppedLogBytes } from "../log/log-output.ts";

/** Metrics of one process; the operator listener sums them over all processes. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Milliseconds between two samples of the event loop delay. At the default of 10 an idle process spends 4
 * ms of each second on this timer, at 50 one, of 0.07 without it: `process.cpuUsage()` around a pause after
 * `collectDefaultMetrics` alone.
 */
export const eventLoopMonitoringPrecision = 200;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  const registers = [registry];
  countDroppedLog(registers);
  const kinds = new Map<string, ActorMetrics>();
  return {
    registry,
    ...requestMetrics(registers),
    ...jobMetrics(registers),
    ...faultMetrics(registers),
    ...questionMetrics(registers),
    ...featureMetrics(registers),
    ...processMetrics(registers),
    ...hubMetrics(registers),
    /** Those of one kind of actor, `<kind>_commands_total` and so on; created at the first use. */
    actors(kind: string): ActorMetrics {
      const known = kinds.get(kind) ?? createActorMetrics(registry, kind);
      kinds.set(kind, known);
      return known;
    },
  };
}

function countDroppedLog(registers: Registry[]): void {
  new Counter({
    name: "log_dropped_bytes_total",
    help: "Log lines dropped because nobody read standard output",
    registers,
    collect() {
      this.reset();
      this.inc(droppedLogBytes());
    },
  });
}

/** HTTP requests. */
const requestMetrics = (registers: Registry[]) => ({
  requests: new Counter({
    name: "http_requests_total",
    help: "Answered requests",
    labelNames: ["route", "method", "status"],
    registers,
  }),
  requestSeconds: new Histogram({
    name: "http_request_seconds",
    help: "Request duration until the response",
    labelNames: ["route"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  }),
  rateLimited: new Counter({
    name: "http_rate_limited_total",
    help: "Requests refused by a rate limit",
    labelNames: ["route"],
    registers,
  }),
});

/** From a mail that is sent at once to an import, in seconds. */
const jobBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 180, 600];

/** Jobs, and the messages that they send. */
const jobMetrics = (registers: Registry[]) => ({
  jobs: new Counter({
    name: "jobs_total",
    help: "Jobs by outcome",
    labelNames: ["queue", "outcome"],
    registers,
  }),
  queueJobs: new Gauge({
    name: "queue_jobs",
    help: "Unfinished jobs by state: waiting, active, delayed (of them retrying and scheduled), permanently failed",
    labelNames: ["queue", "state"],
    registers,
  }),
  jobWaitSeconds: new Histogram({
    name: "emberline_job_wait_duration_seconds",
    help: "Time from the due time of an attempt of a job to its start",
    labelNames: ["queue"],
    buckets: jobBuckets,
    registers,
  }),
  jobSeconds: new Histogram({
    name: "emberline_job_duration_seconds",
    help: "Duration of an attempt of a job",
    labelNames: ["queue"],
    buckets: jobBuckets,
    registers,
  }),
  messages: new Counter({
    name: "messages_total",
    help: "Mails and text messages: written, dropped, sent, retried, failed, expired (too late or void)",
    labelNames: ["kind", "outcome"],
    registers,
  }),
  messageSendSeconds: new Histogram({
    name: "message_send_seconds",
    help: "Duration of one send attempt",
    labelNames: ["driver"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 20],
    registers,
  }),
});

/** Generated questions and the language model. */
const questionMetrics = (registers: Registry[]) => ({
  generatorCalls: new Counter({
    name: "generator_calls_total",
    help: "Calls of the language model: answered, malformed, failed",
    labelNames: ["purpose", "outcome"],
    registers,
  }),
  generatorSeconds: new Histogram({
    name: "generator_call_seconds",
    help: "Duration of one call of the language model",
    labelNames: ["model"],
    buckets: [0.1, 0.5, 1, 2, 4, 8, 16],
    registers,
  }),
  generatorTokens: new Counter({
    name: "generator_tokens_total",
    help: "Tokens by kind: input, output",
    labelNames: ["model", "kind"],
    registers,
  }),
  generatorCost: new Counter({
    name: "generator_cost_total",
    help: "Money spent, in the currency of GENERATOR_PRICES",
    labelNames: ["model"],
    registers,
  }),
  generatorBroken: new Gauge({
    name: "generator_broken",
    help: "1 while the circuit breaker of the language model is open",
    aggregator: "max",
    registers,
  }),
  generatedQuestions: new Counter({
    name: "generated_questions_total",
    help: "Questions of a generator: kept, malformed, unsound, duplicate, disputed, fallback",
    labelNames: ["source", "outcome"],
    registers,
  }),
});

/** Avatars, wallets, leaderboards, archive. */
const featureMetrics = (registers: Registry[]) => ({
  avatarVerdicts: new Counter({
    name: "avatar_verdicts_total",
    help: "Moderation decisions on uploaded pictures: approved, queued, rejected; and by whom",
    labelNames: ["verdict", "by"],
    registers,
  }),
  walletDifferences: new Gauge({
    name: "wallet_differences",
    help: "Wallets that differ from their ledger",
    // Every job process reports the same wallets.
    aggregator: "max",
    registers,
  }),
  walletsChecked: new Counter({
    name: "wallets_checked_total",
    help: "Wallets compared with their ledger",
    registers,
  }),
  leaderboardProjections: new Counter({
    name: "board_turns_total",
    help: "Runs of the projection of changes to the leaderboards in Redis",
    registers,
  }),
  leaderboardBuilds: new Counter({
    name: "board_builds_total",
    help: "Leaderboards rebuilt from Postgres",
    registers,
  }),
  archiveCache: new Counter({
    name: "archive_cache_total",
    help: "Archive reads by cache outcome: hit, miss",
    labelNames: ["kind", "outcome"],
    registers,
  }),
});

/** Stores and processes. */
const processMetrics = (registers: Registry[]) => ({
  storeUp: new Gauge({
    name: "store_up",
    help: "1 while a store responds and accepts writes, else 0",
    labelNames: ["store"],
    registers,
  }),
  processRestarts: new Gauge({
    name: "process_restarts",
    help: "Restarts of the processes of a role since the service started",
    labelNames: ["role"],
    registers,
  }),
});

/** Event streams. */
const hubMetrics = (registers: Registry[]) => ({
  hubStreams: new Gauge({
    name: "hub_streams",
    help: "Open event streams by topic: list, the kind of a room, several",
    labelNames: ["topic"],
    registers,
  }),
  hubEvents: new Counter({
    name: "hub_events_total",
    help: "Hub messages: in, delivered, replayed, conflated; returns: resumed, gap",
    labelNames: ["kind"],
    registers,
  }),
  hubOpens: new Counter({
    name: "hub_stream_opens_total",
    help: "Event streams opened",
    registers,
  }),
  hubEnds: new Counter({
    name: "hub_stream_ends_total",
    help: "Ended event streams by reason",
    labelNames: ["reason"],
    registers,
  }),
  hubBytes: new Counter({
    name: "hub_bytes_total",
    help: "Bytes of messages written to event streams",
    registers,
  }),
  hubReplayBufferBytes: new Gauge({
    name: "hub_ring_bytes",
    help: "Bytes in the replay buffers of room topics",
    registers,
  }),
  hubWriteSeconds: new Histogram({
    name: "hub_publish_to_write_seconds",
    help: "Time from the creation of a room message to its first write",
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers,
  }),
});

/** Recorded failures. */
const faultMetrics = (registers: Registry[]) => ({
  faults: new Counter({
    name: "faults_total",
    help: "Failed attempts of jobs, responses of 500 or above, and work that ended by a fallback",
    labelNames: ["kind"],
    registers,
  }),
  faultsDropped: new Counter({
    name: "faults_dropped_total",
    help: "Faults not recorded because too many waited",
    registers,
  }),
});
