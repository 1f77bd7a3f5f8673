import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { createRoomMetrics, type RoomMetrics } from "./room-metrics.ts";
import { jobBuckets, shortBuckets } from "./buckets.ts";
import { measureProcess, type ProcessRole } from "./process-metrics.ts";

/** Metrics of one process; the operator listener sums them over all processes. README.md describes each. */
export type Metrics = ReturnType<typeof createMetrics>;

/** With a `role`, those of the process itself are among them; without one, as in tests, nothing is sampled. */
export function createMetrics(role?: ProcessRole) {
  const registry = new Registry();
  if (role) measureProcess(registry, role);
  const registers = [registry];
  const roomsOf = createRoomMetrics(registers);
  const kinds = new Map<string, RoomMetrics>();
  return {
    registry,
    ...requestMetrics(registers),
    ...jobMetrics(registers),
    ...faultMetrics(registers),
    ...questionMetrics(registers),
    ...featureMetrics(registers),
    ...storeMetrics(registers),
    ...hubMetrics(registers),
    ...traceMetrics(registers),
    /** Those of the rooms of one kind. */
    rooms(kind: string): RoomMetrics {
      const known = kinds.get(kind) ?? roomsOf(kind);
      kinds.set(kind, known);
      return known;
    },
  };
}

/** HTTP requests. */
const requestMetrics = (registers: Registry[]) => ({
  requests: new Counter({
    name: "emberline_http_requests_total",
    help: "Answered requests",
    labelNames: ["route", "method", "status"],
    registers,
  }),
  requestSeconds: new Histogram({
    name: "emberline_http_request_duration_seconds",
    help: "Request duration until the response",
    labelNames: ["route"],
    buckets: shortBuckets,
    registers,
  }),
  rateLimited: new Counter({
    name: "emberline_http_rate_limited_total",
    help: "Requests refused by a rate limit",
    labelNames: ["route"],
    registers,
  }),
});

/** Jobs, and the messages that they send. */
const jobMetrics = (registers: Registry[]) => ({
  jobs: new Counter({
    name: "emberline_jobs_total",
    help: "Jobs by outcome",
    labelNames: ["queue", "outcome"],
    registers,
  }),
  queueJobs: new Gauge({
    name: "emberline_queue_jobs",
    help: "Of the fleet: unfinished jobs by state: waiting, active, delayed (of them retrying and scheduled), permanently failed",
    labelNames: ["queue", "state"],
    registers,
  }),
  queueOldestSeconds: new Gauge({
    name: "emberline_queue_oldest_waiting_seconds",
    help: "Of the fleet: time since the oldest waiting job was due; 0 if none waits",
    labelNames: ["queue"],
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
    name: "emberline_messages_total",
    help: "Mails and text messages: written, dropped, sent, retried, failed, expired (too late or void)",
    labelNames: ["kind", "outcome"],
    registers,
  }),
  messageSendSeconds: new Histogram({
    name: "emberline_message_send_duration_seconds",
    help: "Duration of one send attempt",
    labelNames: ["driver"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 20],
    registers,
  }),
});

/** Generated questions and the language model. */
const questionMetrics = (registers: Registry[]) => ({
  generatorCalls: new Counter({
    name: "emberline_generator_calls_total",
    help: "Calls of the language model: answered, malformed, failed",
    labelNames: ["purpose", "outcome"],
    registers,
  }),
  generatorSeconds: new Histogram({
    name: "emberline_generator_call_duration_seconds",
    help: "Duration of one call of the language model",
    labelNames: ["model"],
    buckets: [0.1, 0.5, 1, 2, 4, 8, 16],
    registers,
  }),
  generatorTokens: new Counter({
    name: "emberline_generator_tokens_total",
    help: "Tokens by kind: input, output",
    labelNames: ["model", "kind"],
    registers,
  }),
  generatorCost: new Counter({
    name: "emberline_generator_cost_total",
    help: "Money spent, in the currency of GENERATOR_PRICES",
    labelNames: ["model"],
    registers,
  }),
  generatorBroken: new Gauge({
    name: "emberline_generator_circuit_open",
    help: "1 while the circuit breaker of the language model is open in a process",
    aggregator: "max",
    registers,
  }),
  generatedQuestions: new Counter({
    name: "emberline_generated_questions_total",
    help: "Questions of a generator: kept, malformed, unsound, duplicate, disputed, fallback",
    labelNames: ["source", "outcome"],
    registers,
  }),
});

/** Avatars, wallets, leaderboards, archive. */
const featureMetrics = (registers: Registry[]) => ({
  avatarVerdicts: new Counter({
    name: "emberline_avatar_decisions_total",
    help: "Moderation decisions on uploaded pictures: approved, queued, rejected; and by whom",
    labelNames: ["verdict", "by"],
    registers,
  }),
  walletDifferences: new Gauge({
    name: "emberline_wallet_differences",
    help: "Of the fleet: wallets that differ from their ledger",
    // Every job process reports the same wallets.
    aggregator: "max",
    registers,
  }),
  walletsChecked: new Counter({
    name: "emberline_wallets_checked_total",
    help: "Wallets compared with their ledger",
    registers,
  }),
  leaderboardProjections: new Counter({
    name: "emberline_leaderboard_projections_total",
    help: "Runs of the projection of changes to the leaderboards in Redis",
    registers,
  }),
  leaderboardBuilds: new Counter({
    name: "emberline_leaderboard_builds_total",
    help: "Leaderboards rebuilt from Postgres",
    registers,
  }),
  archiveCache: new Counter({
    name: "emberline_archive_cache_total",
    help: "Archive reads by cache outcome: hit, miss",
    labelNames: ["kind", "outcome"],
    registers,
  }),
});

/** Stores and processes. */
const storeMetrics = (registers: Registry[]) => ({
  storeUp: new Gauge({
    name: "emberline_store_up",
    help: "1 while a store responds to the operator process and accepts writes, else 0",
    labelNames: ["store"],
    registers,
  }),
  postgresPool: poolMetrics(registers),
  redisPingSeconds: new Histogram({
    name: "emberline_redis_ping_duration_seconds",
    help: "Time of a PING to Redis, sent by one HTTP worker every 2 s; one without an answer is not counted",
    buckets: shortBuckets,
    registers,
  }),
  processRestarts: new Counter({
    name: "emberline_process_restarts_total",
    help: "Restarts of processes that ended by themselves, since the service started; a drain is none",
    labelNames: ["role"],
    registers,
  }),
});

/** A pool of connections to Postgres, as `pg` counts them. */
export interface PoolCounts {
  /** Connections, idle ones included. */
  readonly totalCount: number;
  readonly idleCount: number;
  /** Callers that wait for a connection. */
  readonly waitingCount: number;
  readonly options: { readonly max: number };
}

function poolMetrics(registers: Registry[]) {
  let pool: PoolCounts | null = null;
  new Gauge({
    name: "emberline_postgres_pool_connections",
    help: "Connections to Postgres: used, idle, and as many as there may be (max)",
    labelNames: ["state"],
    registers,
    collect() {
      if (pool === null) return;
      this.set({ state: "used" }, pool.totalCount - pool.idleCount);
      this.set({ state: "idle" }, pool.idleCount);
      this.set({ state: "max" }, pool.options.max);
    },
  });
  new Gauge({
    name: "emberline_postgres_pool_waiting",
    help: "Statements and transactions that wait for a connection to Postgres",
    registers,
    collect() {
      this.set(pool?.waitingCount ?? 0);
    },
  });
  return {
    /** Shows this pool from now on. */
    follow(opened: PoolCounts): void {
      pool = opened;
    },
  };
}

/** Event streams. */
const hubMetrics = (registers: Registry[]) => ({
  hubStreams: new Gauge({
    name: "emberline_hub_streams",
    help: "Open event streams by topic: list, the kind of a room, several",
    labelNames: ["topic"],
    registers,
  }),
  hubEvents: new Counter({
    name: "emberline_hub_events_total",
    help: "Hub messages: in, delivered, replayed, conflated; returns: resumed, gap",
    labelNames: ["kind"],
    registers,
  }),
  hubOpens: new Counter({
    name: "emberline_hub_stream_opens_total",
    help: "Event streams opened",
    registers,
  }),
  hubEnds: new Counter({
    name: "emberline_hub_stream_ends_total",
    help: "Ended event streams by reason",
    labelNames: ["reason"],
    registers,
  }),
  hubBytes: new Counter({
    name: "emberline_hub_written_bytes_total",
    help: "Bytes of messages written to event streams",
    registers,
  }),
  hubReplayBufferBytes: new Gauge({
    name: "emberline_hub_replay_buffer_bytes",
    help: "Bytes in the replay buffers of room topics",
    registers,
  }),
  hubWriteSeconds: new Histogram({
    name: "emberline_hub_delivery_lag_duration_seconds",
    help: "Time from the decision of a room message, just before its commit, to its first write to a stream",
    buckets: shortBuckets,
    registers,
  }),
});

/** Traces. */
const traceMetrics = (registers: Registry[]) => ({
  spans: new Counter({
    name: "emberline_spans_total",
    help: "Parts of traces by outcome: sent to the collector, dropped (too many waited, or it did not take them)",
    labelNames: ["outcome"],
    registers,
  }),
});

/** Recorded failures. */
const faultMetrics = (registers: Registry[]) => ({
  faults: new Counter({
    name: "emberline_faults_total",
    help: "Failed attempts of jobs, responses of 500 or above, and work that ended by a fallback",
    labelNames: ["kind"],
    registers,
  }),
  faultsDropped: new Counter({
    name: "emberline_faults_dropped_total",
    help: "Faults not recorded because too many waited",
    registers,
  }),
});
