import type { RoomTimings, Takeover } from "../../actors/index.ts";
import { createOrm, forkFor, usualAnswerMs } from "../../db/orm.ts";
import { nextIdBlock } from "../../db/queries/ids.ts";
import { LazyQueues, type JobQueues } from "../../workers/lazy-queues.ts";
import { createModerator } from "../features/avatars/domain/moderator.ts";
import { createPictureCache } from "../features/avatars/domain/picture-cache.ts";
import { createPictureStore } from "../features/avatars/domain/create-picture-store.ts";
import { createProviderPictures } from "../features/avatars/domain/provider-pictures.ts";
import { createLeaderboards } from "../features/leaderboards/domain/leaderboards.ts";
import { ClosedAccountFollower } from "../features/accounts/domain/closed-account-follower.ts";
import { createArchive } from "../features/archive/domain/archive.ts";
import { createRequestStore } from "../features/requests/domain/request-store.ts";
import { createFaultStore } from "../features/faults/domain/fault-store.ts";
import { serviceVersion } from "../platform/version.ts";
import { BatchingFaultRecorder } from "../platform/faults/recorder.ts";
import { noOrigin } from "../platform/origin.ts";
import { BatchingRequestTracker } from "../platform/requests/tracker.ts";
import { createInstance, nameOfInstance, type Instance } from "../platform/instance.ts";
import { createResponseCache } from "../platform/cache/response-cache.ts";
import { systemClock, type Clock } from "../platform/time/clock.ts";
import { ClosedAccounts } from "../platform/security/closed-accounts.ts";
import type { Config } from "../platform/config/config.ts";
import {
  ConnectionShares,
  RequestConnections,
  sharesOf,
} from "../platform/postgres/connection-shares.ts";
import type { Logger } from "../platform/log/logger.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import { createPasswordHasher, type PasswordHasher } from "../platform/security/passwords.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";
import { createTokenService } from "../platform/security/tokens.ts";
import type { DepsWith } from "./deps.ts";
import type { JobDeps } from "./job-deps.ts";
import { openRooms, type RoomKinds } from "./open-rooms.ts";
import { LruApiKeyCache } from "../features/keys/domain/api-key-cache.ts";
import { MaintenanceGate } from "../features/rooms/domain/maintenance.ts";
import { createHiLoAllocator } from "../features/lobbies/domain/hi-lo-allocator.ts";
import { createQuestionModel } from "../features/questions/providers/generator.ts";
import { createQuestionBank } from "../features/questions/providers/question-bank/index.ts";
import { createSenders } from "../features/delivery/providers/senders.ts";
import { requireStillGuest } from "../features/sessions/sessions.ts";
import { createOAuthServer } from "../features/oauth/domain/server.ts";
import { Hub } from "../sse/delivery/hub.ts";
import type { HubLimits } from "../sse/delivery/limits.ts";

/** Values every process starts with. */
export interface BaseDeps {
  config: Config;
  log: Logger;
  metrics: Metrics;
  clock?: Clock;
  /** This start of the process; default: one without a role. */
  instance?: Instance;
  /** Makes traces; default: there are none. */
  tracer?: Tracer | null;
  /** Replaced only in tests, where hashing passwords would take most of the time. */
  passwords?: PasswordHasher;
  /** Maximum number of requests of one caller waiting for the database; replaced only in tests. */
  waitingOfCaller?: number;
  /** The process joins the rooms on a later call, not immediately. */
  joinsLater?: boolean;
  /** Private folder with the sockets of this machine's workers; without it they communicate over Redis. */
  linkDir?: string | null;
  /** Called when the first room enters the memory of the process and when the last one leaves. */
  onOccupied?: (isOccupied: boolean) => void;
  /** The process owns rooms of another one, which did not hand them over. */
  onTakeover?: (takeover: Takeover) => void;
  /** Of the rooms; only tests have others than the usual ones. */
  timings?: Partial<RoomTimings>;
  /** Of the hub; only tests have others than the usual ones. */
  hubLimits?: Partial<HubLimits>;
}

export interface Assembled<D> {
  deps: D;
  /** Closes connections, in the reverse order of opening. */
  close(): Promise<void>;
}

const unnamedInstance = () =>
  createInstance({ role: "process", index: 0, version: serviceVersion });

/** Dependencies of a process that runs jobs. */
export async function assembleJobs(
  options: BaseDeps,
): Promise<Assembled<JobDeps> & { queues: JobQueues }> {
  const { config, log, metrics, clock = systemClock, instance = unnamedInstance() } = options;
  const redis = connectRedis(config.REDIS_URL, log, "general");
  const orm = await createOrm(config, log, {
    answerLimitMs: usualAnswerMs,
    onPool: metrics.postgresPool.follow,
  });
  await redisReady(redis);
  const requests = new BatchingRequestTracker({
    ...{ store: createRequestStore(redis, clock), instance, clock, log },
  });
  const queues = new LazyQueues(config.REDIS_URL, log, requests);
  const store = createFaultStore(redis, clock);
  const faults = new BatchingFaultRecorder({ store, instance, clock, log, metrics, requests });
  const senders = createSenders(config, log);
  const moderator = createModerator(config, { log, faults });
  const deps: JobDeps = {
    config,
    log,
    metrics,
    clock,
    redis,
    orm,
    faults,
    requests,
    tracer: options.tracer ?? null,
    // Requests and jobs have their own.
    origin: noOrigin,
    get em() {
      return orm.em.fork();
    },
    bodies: createResponseCache(),
    leaderboards: createLeaderboards({ redis, em: () => orm.em.fork(), clock, log, metrics }),
    questionModel: createQuestionModel(config, { redis, clock, log, metrics, faults }),
    questionBank: createQuestionBank(),
    senders,
    pictureStore: createPictureStore(config),
    moderator,
    enqueue: queues.enqueue.bind(queues),
    enqueueAndWait: queues.enqueueAndWait.bind(queues),
    queueNamed: queues.named.bind(queues),
  };
  return {
    deps,
    queues,
    async close() {
      moderator.stop();
      await queues.close();
      senders.mail.close();
      senders.sms.close();
      await faults.stop();
      await requests.stop();
      await options.tracer?.stop();
      redis.disconnect();
      await orm.close(true);
    },
  };
}

/** Dependencies of a process that serves requests: those of jobs, its share of the rooms of each kind, and the hub. */
export async function assembleHttp<Kinds extends RoomKinds>(
  options: BaseDeps,
  kinds: Kinds,
): Promise<Assembled<DepsWith<Kinds>>> {
  const { deps: base, close } = await assembleJobs(options);
  const { config, log, metrics, clock, orm, faults } = base;
  const { rooms, byName } = await openRooms(kinds, base, {
    redisUrl: config.REDIS_URL,
    log,
    clock,
    metrics,
    topicBase: config.TOPIC_BASE,
    joinsLater: options.joinsLater ?? false,
    linkDir: options.linkDir ?? null,
    timings: options.timings ?? {},
    onOccupied: options.onOccupied,
    onTakeover: options.onTakeover,
    tracer: base.tracer,
    processName: options.instance && nameOfInstance(options.instance),
  });
  const hub = new Hub({
    redisUrl: config.REDIS_URL,
    config,
    log,
    clock,
    metrics,
    faults,
    ...rooms.sources,
    limits: options.hubLimits ?? {},
  });
  const archive = createArchive({ orm, metrics });
  const closedAccounts = new ClosedAccounts(clock);
  const accounts = { redisUrl: config.REDIS_URL, orm, clock, log, accounts: closedAccounts };
  const closings = new ClosedAccountFollower(accounts);
  const keys = new LruApiKeyCache({ orm, clock, log });
  const reserve = (sequence: "lobby_ids" | "seat_ids") =>
    createHiLoAllocator(() => nextIdBlock(orm.em.fork(), sequence));
  const shares = sharesOf(config.DATABASE_POOL, options.waitingOfCaller);
  const players = new ConnectionShares(shares.player);
  const others = new ConnectionShares(shares.other);
  const emFor = (who: string, guestId: number | null = null) =>
    forkFor(
      orm,
      new RequestConnections(/^p\d/.test(who) ? players : others, who),
      guestId === null ? null : (em) => requireStillGuest(em, guestId),
    );
  const deps: DepsWith<Kinds> = {
    ...base,
    get em() {
      return orm.em.fork();
    },
    emFor,
    closedAccounts,
    keys,
    tokens: createTokenService(config, clock),
    passwords: options.passwords ?? createPasswordHasher(),
    pictures: createPictureCache(base.pictureStore),
    providerPictures: createProviderPictures(config, base),
    maintenance: new MaintenanceGate(base.redis),
    ids: { lobby: reserve("lobby_ids"), seat: reserve("seat_ids") },
    ...byName,
    rooms,
    archive,
    oauth: createOAuthServer({ ...base, fork: () => emFor("oauth") }),
    hub,
  };
  return {
    deps,
    close: async () => {
      closings.close();
      await close();
    },
  };
}
