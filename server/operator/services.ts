import { AggregatorRegistry } from "prom-client";
import type { Redis } from "ioredis";
import { createJobTimes } from "../../workers/job-times.ts";
import type { Queues } from "../../workers/producer.ts";
import { createPlayerService } from "../features/accounts/domain/player-service.ts";
import { createAvatarService } from "../features/avatars/domain/avatar-service.ts";
import { createFaultStore } from "../features/faults/domain/fault-store.ts";
import { createProcessEvents } from "../features/processes/domain/process-events.ts";
import { createQuestionService } from "../features/questions/domain/question-review.ts";
import { createRequestStore } from "../features/requests/domain/request-store.ts";
import { changeMaintenance, readMaintenance } from "../features/rooms/domain/maintenance.ts";
import { readRecentSeats, type RecentSeat } from "../features/rooms/domain/recent-seats.ts";
import type { Config } from "../platform/config/config.ts";
import type { JobTimes } from "../platform/job-times/store.ts";
import type { Logger } from "../platform/log/logger.ts";
import { withFormerNames } from "../platform/metrics/former-names.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import { reportMetrics, type MetricsReport } from "../platform/metrics/report.ts";
import type { Clock } from "../platform/time/clock.ts";
import type { PrimaryLink, ProcessInfo, RoomReport, RoomsReport } from "../runtime/ipc.ts";
import type {
  AllQuestion,
  DrainAnswer,
  DrainQuestion,
  HeldSeat,
  RoomQuestion,
  SeatQuestion,
  SubscribersQuestion,
} from "../runtime/process-questions.ts";
import { createAudit, createUndoneRecords } from "./audit.ts";
import { createAuditLog } from "./audit-log/service.ts";
import type { createDatabase } from "./database.ts";
import type { OperatorDeps } from "./deps.ts";
import { createFleetSources, type FleetSources } from "./fleet/sources.ts";
import { createActionService, createFailureService } from "./failures/service.ts";
import { collectMetrics } from "./health/collect-metrics.ts";
import { createCounts } from "./health/counts.ts";
import { within } from "./health/stores.ts";
import { createJobService } from "./jobs/service.ts";
import type { OutageWatch } from "./outages/watch.ts";
import { createDashboard, totalled, totalsOf } from "./overview/dashboard.ts";
import { roomsOfPlayer } from "./players/rooms.ts";
import { createTimelines } from "./requests/service.ts";
import type { QueueBody } from "./schemas.ts";
import { createSearchSources } from "./search/sources.ts";
import { createEndedSessions } from "./session/ended-sessions.ts";
import { createIdentities } from "./session/identity.ts";
import { createLoginFailures } from "./session/login-failures.ts";
import { createOidcSignIn } from "./session/oidc.ts";

export interface OperatorParts {
  config: Config;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  redis: Redis;
  queues: Queues;
  database: ReturnType<typeof createDatabase>;
  /** The primary, which knows the other processes. */
  link: Pick<PrimaryLink, "ask">;
  outages: OutageWatch;
  probes: OperatorDeps["probes"];
}

/** All that the routes of the operator listener take, on the stores and the other processes. */
export function createOperatorDeps(parts: OperatorParts): OperatorDeps {
  const { config, log, clock, metrics, redis, queues, database, link, outages, probes } = parts;
  const store = createFaultStore(redis, clock);
  const loginFailures = createLoginFailures(clock);
  const usedTokens = { isUsed: database.isTokenUsed, use: database.useToken };
  const ended = createEndedSessions(redis, usedTokens, clock);
  const identities = createIdentities(config, clock, database.findOperator, ended);
  const oidc = createOidcSignIn({ config, clock, log });
  const audit = createAudit(database.changes, log);
  const recordUndone = createUndoneRecords(database.changes, log);
  const { outbox, playerMessages, wallets, playerWallet, imports, inStores } = database;
  const players = createPlayerService({ config, inStores, recordUndone });
  const avatars = createAvatarService({ config, clock, open: database.open, recordUndone });
  const questions = createQuestionService(inStores, recordUndone);
  const waitingPictures = () => within<number | null>(avatars.countWaiting(), null);
  const failures = createFailureService({ store, open: database.open, clock });
  const timelines = createTimelines({
    ...{ requests: createRequestStore(redis, clock), faults: store },
    ...{ queues: queues.all(), open: database.open },
  });
  const failureActions = createActionService({
    ...{ store, open: database.open, clock },
    ...{ redis, queues },
  });
  const auditLog = createAuditLog(database.open);
  const changed = { failures, failureActions, auditLog };
  const sessions = { identities, loginFailures, oidc };
  const services = { players, avatars, questions, ...changed, ...sessions };
  const jobTimes = createJobTimes(redis, clock);
  const groupOfJob = store.groupOfJob.bind(store);
  const fleet = createFleetSources(link, redis);
  const shared = createSources({ link, fleet, queues, jobTimes, metrics, outages, clock });
  const processEvents = createProcessEvents({ open: database.open, clock });
  const maintenance = {
    read: () => readMaintenance(redis),
    change: (next: Parameters<typeof changeMaintenance>[1]) => changeMaintenance(redis, next),
  };
  const seats = (id: number) => within<RecentSeat[] | null>(readRecentSeats(redis, id), null);
  const playerRooms = (id: number) => roomsOfPlayer({ seats, held: shared.held }, id);
  const stats = createDashboard({ ...shared, waitingPictures }, clock.now);
  const searchSources = createSearchSources({ ...shared, ...timelines, failures, players });
  return {
    ...shared,
    ...fleet,
    ...services,
    ...timelines,
    ...{ audit, stats, searchSources, processEvents, playerRooms },
    ...{ outbox, playerMessages, wallets, playerWallet, imports },
    ...{ jobTimes, groupOfJob, clock, probes, maintenance },
  };
}

/** What all processes report, and the queues. */
function createSources(parts: {
  link: OperatorParts["link"];
  fleet: FleetSources;
  queues: Queues;
  jobTimes: JobTimes;
  metrics: Metrics;
  outages: OutageWatch;
  clock: Clock;
}) {
  const { link, fleet, queues, jobTimes, metrics, outages, clock } = parts;
  /** Of this instance, whose metrics and health these are. */
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const answersOf = async <T>(question: AllQuestion["question"], about?: unknown) =>
    (await fleet.fromFleet<T>(question, about)).map(({ answer }) => answer);
  const stores = () => outages.stores();
  const processes = async () => (await outages.processes()) as ProcessInfo[];
  const rooms = async () =>
    (await fleet.fromFleet<RoomsReport>("rooms")).map(({ host, answer }) => ({ host, ...answer }));
  /** Each set of names needs counts of its own. */
  const collector = (names?: readonly string[]) => {
    const counts = createCounts();
    return async () => {
      const [reports, running, own] = await Promise.all([
        within(link.ask("metrics", names), null),
        processes(),
        reportMetrics(metrics.registry, names),
      ]);
      const pids = running.map(({ pid }) => pid);
      const complete = await counts.complete(listOf(reports) as MetricsReport[], pids);
      return [...complete, own.metrics];
    };
  };
  const collectAll = collector();
  const collectTotals = collector(totalled);
  const jobs = createJobService(queues.all(), clock, jobTimes);
  return {
    processes,
    held: (seats: readonly SeatQuestion[]) => answersOf<HeldSeat[]>("seats", seats),
    stores,
    drain: async (order: DrainQuestion) =>
      ((await link.ask("drain", order)) ?? "unconfirmed") as DrainAnswer,
    rooms,
    room: (question: RoomQuestion) => answersOf<RoomReport>("room", question),
    subscribers: (question: SubscribersQuestion) => answersOf<number[]>("subscribers", question),
    lobbies: async () => (await rooms()).flatMap(({ kinds: { lobby } }) => lobby ?? []),
    metricsText: async () => {
      const waiting = () => within<QueueBody[] | null>(jobs.queues(), null);
      await collectMetrics(metrics, { stores, queues: waiting, processes });
      const all = await collectAll();
      return AggregatorRegistry.aggregate([...all, ...all.map(withFormerNames)]).metrics();
    },
    totals: async () => totalsOf((await collectTotals()).flat()),
    moderators: async () => listOf(await within(link.ask("moderation"), null)).map(String),
    jobs,
  };
}
