import type { Holder } from "../../actors/index.ts";
import { AggregatorRegistry } from "prom-client";
import { createJobTimes } from "../../workers/job-times.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import type { JobTimes } from "../platform/job-times/store.ts";
import { systemClock } from "../platform/time/clock.ts";
import { loadConfig } from "../platform/config/config.ts";
import { createLogger } from "../platform/log/logger.ts";
import { createMetrics, type Metrics } from "../platform/metrics/metrics.ts";
import { connectRedis, connectTimeoutMs, redisReady } from "../platform/redis/redis.ts";
import {
  joinPrimary,
  type PrimaryLink,
  type ProcessInfo,
  type RoomReport,
  type RoomsReport,
} from "../runtime/ipc.ts";
import type {
  DrainAnswer,
  HeldSeat,
  Question,
  RoomQuestion,
  SeatQuestion,
  SubjectOf,
  SubscribersQuestion,
} from "../runtime/questions.ts";
import { createAvatarService } from "../features/avatars/domain/avatar-service.ts";
import { createAudit } from "./audit.ts";
import { boardRoutes } from "./board/routes.ts";
import type { OperatorDeps } from "./deps.ts";
import { createOperatorServer } from "./server.ts";
import { createCounts, type MetricsReport } from "./health/counts.ts";
import { createDatabase } from "./database.ts";
import { createEndedSessions } from "./session/ended-sessions.ts";
import { createLoginFailures } from "./session/login-failures.ts";
import { createOidcSignIn } from "./session/oidc.ts";
import { createIdentities } from "./session/identity.ts";
import { createDashboard, totalsOf } from "./overview/dashboard.ts";
import { createJobService } from "./jobs/service.ts";
import { collectMetrics } from "./health/collect-metrics.ts";
import { createPlayerService } from "../features/accounts/domain/player-service.ts";
import { createQuestionService } from "../features/questions/domain/question-review.ts";
import { createRequestStore } from "../features/requests/domain/request-store.ts";
import { createProcessEvents } from "../features/processes/domain/process-events.ts";
import { readRecentSeats, type RecentSeat } from "../features/rooms/domain/recent-seats.ts";
import { roomsOfPlayer } from "./players/rooms.ts";
import { loadsOf } from "./workers/loads.ts";
import { startingProbes } from "../platform/probes.ts";
import { createFaultStore } from "../features/faults/domain/fault-store.ts";
import { serviceVersion } from "../platform/version.ts";
import { BatchingFaultRecorder } from "../platform/faults/recorder.ts";
import { BatchingRequestTracker } from "../platform/requests/tracker.ts";
import { createInstance } from "../platform/instance.ts";
import { createTimelines } from "./requests/service.ts";
import { createSearchSources } from "./search/sources.ts";
import { createActionService, createFailureService } from "./failures/service.ts";
import { createAuditLog } from "./audit-log/service.ts";
import { operatorRoutes } from "./routes.ts";
import type { QueueBody } from "./schemas.ts";
import { readStores, within } from "./health/stores.ts";
import { OutageWatch } from "./outages/watch.ts";

/**
 * Process entry of role `operator`: health, metrics and pages for operators. Listens once it receives the
 * listener.
 */
export async function startOperator(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "operator");
  const metrics = createMetrics();
  const redis = connectRedis(config.REDIS_URL, log, "operator");
  const queues = createQueues(config.REDIS_URL, log);
  const database = createDatabase(config, redis);
  const store = createFaultStore(redis, systemClock);
  const instance = createInstance({ role: "operator", index: 0, version: serviceVersion });
  const clock = systemClock;
  const requestStore = createRequestStore(redis, clock);
  const requests = new BatchingRequestTracker({ store: requestStore, instance, clock, log });
  const faults = new BatchingFaultRecorder({ store, instance, clock, log, metrics, requests });
  let probes = startingProbes;
  const link = joinPrimary({
    log,
    answers: {},
    take: (connection, received) => server.take(connection, received),
    onState: (state) => {
      probes = state.probes;
      outages.publish(state.awaySince);
    },
    stop: async () => {
      await server.drain();
      await queues.close();
      await faults.stop();
      await requests.stop();
      redis.disconnect();
      await database.close();
    },
  });
  const loginFailures = createLoginFailures(systemClock);
  const usedTokens = { isUsed: database.isTokenUsed, use: database.useToken };
  const ended = createEndedSessions(redis, usedTokens, systemClock);
  const identities = createIdentities(config, systemClock, database.findOperator, ended);
  const oidc = createOidcSignIn({ config, clock: systemClock, log });
  const outages = new OutageWatch({
    stores: (limitMs) => readStores(redis, database, limitMs),
    processes: () => link.ask("processes"),
    clock,
  });
  const audit = createAudit(database.changes, log);
  const { outbox, playerMessages, wallets, playerWallet, imports, inStores } = database;
  const players = createPlayerService({ config, inStores });
  const avatars = createAvatarService({ config, clock: systemClock, open: database.open });
  const questions = createQuestionService(inStores);
  const waitingPictures = () => within<number | null>(avatars.countWaiting(), null);
  const failures = createFailureService({ store, open: database.open, clock: systemClock });
  const timelines = createTimelines({
    ...{ requests: requestStore, faults: store, queues: queues.all(), open: database.open },
  });
  const failureActions = createActionService({
    ...{ store, open: database.open, clock: systemClock },
    ...{ redis, queues },
  });
  const auditLog = createAuditLog(database.open);
  const changed = { failures, failureActions, auditLog };
  const sessions = { identities, loginFailures, oidc };
  const services = { players, avatars, questions, ...changed, ...sessions };
  const jobTimes = createJobTimes(redis, systemClock);
  const groupOfJob = store.groupOfJob.bind(store);
  const shared = createSources({ link, queues, jobTimes, metrics, outages });
  const processEvents = createProcessEvents({ open: database.open, clock: systemClock });
  const seats = (id: number) => within<RecentSeat[] | null>(readRecentSeats(redis, id), null);
  const playerRooms = (id: number) => roomsOfPlayer({ seats, held: shared.held }, id);
  const stats = createDashboard({ ...shared, waitingPictures }, systemClock.now);
  const searchSources = createSearchSources({ ...shared, ...timelines, failures, players });
  const deps: OperatorDeps = {
    ...shared,
    ...services,
    ...timelines,
    ...{ audit, stats, searchSources, processEvents, playerRooms },
    ...{ outbox, playerMessages, wallets, playerWallet, imports },
    ...{ jobTimes, groupOfJob, clock: systemClock },
    probes: () => probes,
  };
  const server = createOperatorServer({
    base: { config, clock: systemClock, metrics, redis, faults, requests },
    deps,
    routes: [...operatorRoutes, ...boardRoutes(queues.all(), jobTimes)],
    ...{ log, outages },
  });
  // The first request starts this process: a store that is not connected yet would look like a missing one.
  await redisReady(redis, connectTimeoutMs).catch(() => undefined);
  await outages.stores();
  link.ready(instance);
}

/** What all processes report, and the queues. */
function createSources(parts: {
  link: PrimaryLink;
  queues: Queues;
  jobTimes: JobTimes;
  metrics: Metrics;
  outages: OutageWatch;
}) {
  const { link, queues, jobTimes, metrics, outages } = parts;
  const listOf = async <Q extends Question>(
    question: Q,
    about?: SubjectOf<Q>,
  ): Promise<unknown[]> => {
    const value = await within(link.ask(question, about), null);
    return Array.isArray(value) ? value : [];
  };
  const stores = () => outages.stores();
  const processes = async () => (await outages.processes()) as ProcessInfo[];
  const rooms = async () => (await listOf("rooms")) as RoomsReport[];
  const counts = createCounts();
  const registry = async () => {
    const [reports, running, own] = await Promise.all([
      listOf("metrics") as Promise<MetricsReport[]>,
      processes(),
      metrics.registry.getMetricsAsJSON(),
    ]);
    const pids = running.map(({ pid }) => pid);
    return AggregatorRegistry.aggregate([...(await counts.complete(reports, pids)), own]);
  };
  const jobs = createJobService(queues.all(), systemClock, jobTimes);
  return {
    processes,
    held: async (seats: readonly SeatQuestion[]) => (await listOf("seats", seats)) as HeldSeat[][],
    loads: async () => loadsOf((await listOf("metrics")) as MetricsReport[]),
    stores,
    drain: async (index: number) => (await link.ask("drain", { index })) as DrainAnswer | null,
    rooms,
    room: async (question: RoomQuestion) => (await listOf("room", question)) as RoomReport[],
    subscribers: async (question: SubscribersQuestion) =>
      (await listOf("subscribers", question)) as number[][],
    lobbies: async () =>
      (await rooms()).flatMap(({ kinds: { lobby } }) => (lobby ? [lobby as Holder] : [])),
    metricsText: async () => {
      const waiting = () => within<QueueBody[] | null>(jobs.queues(), null);
      await collectMetrics(metrics, { stores, queues: waiting, processes });
      return (await registry()).metrics();
    },
    totals: async () => totalsOf(await (await registry()).getMetricsAsJSON()),
    moderators: async () => (await listOf("moderation")).map(String),
    jobs,
  };
}
