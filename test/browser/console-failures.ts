import { createOrm } from "../../db/orm.ts";
import { createFaultStore } from "../../server/features/faults/domain/fault-store.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { Fault } from "../../server/platform/faults/fault.ts";
import { BatchingFaultRecorder } from "../../server/platform/faults/recorder.ts";
import { createInstance } from "../../server/platform/instance.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { startJobs, type Processors } from "../../workers/jobs.ts";
import { LazyQueues } from "../../workers/lazy-queues.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import type { GroupActionDeps } from "../../workers/processors/group-actions.ts";
import { avatarModeration, credentialRequests, mail } from "../../workers/queues.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/process.ts";
import { actingProcessors } from "../workers/group-actions-app.ts";

/** Failed jobs by cause; `repair` mends the greylisted mails. */
export const counts = { refused: 4_000, greylisted: 2_500, moderation: 2_000, credentials: 1_500 };
export const numPlayers = 500;
export const evil = "<img src=x onerror=document.title='hit'>";
const failLimitMs = 120_000;

/** A service with ten thousand failed jobs of four causes in three queues, and a fallback. */
export async function startFailures() {
  // The jobs of this test are run by the test alone.
  const service = await startService({ env: { JOB_WORKERS: "0" }, sharesPostgres: true });
  const redis = connectRedis(service.redisUrl, silentLogger, "test");
  await redisReady(redis);
  const orm = await createOrm(parseConfig({ DATABASE_URL: service.databaseUrl }));
  const queues = createQueues(service.redisUrl, silentLogger);
  const lazy = new LazyQueues(service.redisUrl, silentLogger, noRequests);
  const metrics = createMetrics();
  const faults = new BatchingFaultRecorder({
    ...{ store: createFaultStore(redis, systemClock), clock: systemClock, metrics },
    ...{ log: silentLogger, everyMs: 50 },
    instance: createInstance({ role: "jobs", index: 0, version: "1" }),
  });
  const mails = new Mails();
  const deps = { redis, clock: systemClock, log: silentLogger, queueNamed: lazy.named.bind(lazy) };
  const jobs = await startJobs<GroupActionDeps>({
    ...{ redisUrl: service.redisUrl, log: silentLogger, metrics, faults },
    processors: { ...failing(mails), ...actingProcessors.processors },
    failureSteps: actingProcessors.failureSteps,
    depsOf: () => ({ ...deps, em: orm.em.fork() }),
  });
  await addJobs(queues);
  const numFailed = async () => {
    const failed = await Promise.all(queues.all().map((queue) => queue.getFailedCount()));
    return failed.reduce((sum, count) => sum + count, 0);
  };
  await eventually("all fail", async () => (await numFailed()) === 10_000, failLimitMs);
  const error = new Error("out of tokens");
  faults.record({ kind: "degraded", place: "question-generator", error, origin: noOrigin });
  await faults.flush();
  return {
    service,
    mails,
    numFailed,
    stop: async () => {
      await jobs.close();
      await faults.stop();
      await queues.close();
      await lazy.close();
      await orm.close(true);
      redis.disconnect();
      await service.stop();
    },
  };
}

/** Two mail servers, one of which recovers. */
class Mails {
  /** Runs by message since then. */
  readonly runs = new Map<number, number>();
  #isMended = false;

  mend(): void {
    this.#isMended = true;
  }

  send(messageId: number): void {
    const isGreylisted = messageId > counts.refused;
    if (this.#isMended) this.runs.set(messageId, (this.runs.get(messageId) ?? 0) + 1);
    if (this.#isMended && isGreylisted) return;
    const facts = { isPermanent: true, text: evil } as const;
    throw isGreylisted
      ? new Fault("smtp.deferred", { ...facts, peer: "mail-b.example:25", status: 451 })
      : new Fault("smtp.refused", { ...facts, peer: "mail-a.example:25", status: 550 });
  }
}

const failing = (mails: Mails): Processors<unknown> => ({
  mail: async ({ messageId }: { messageId: number }) => mails.send(messageId),
  "avatar-moderation": async () => {
    const facts = { peer: "eye.example:443", status: 500, isPermanent: true };
    throw new Fault("moderation.status", facts);
  },
  "credential-requests": async ({ requestId }: { requestId: number }) => {
    const error = new Error(`no row for request ${requestId}, room ABC234`);
    error.name = "UnrecoverableError";
    throw error;
  },
});

async function addJobs(queues: Queues): Promise<void> {
  const origin = (n: number) => ({ ...noOrigin, playerId: 1 + (n % numPlayers) });
  const enqueue = queues.enqueue.bind(queues);
  const add = (count: number, one: (n: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, (_, at) => one(at + 1)));
  await add(counts.refused + counts.greylisted, (messageId) =>
    enqueue(mail, { messageId, round: 0 }, origin(messageId)),
  );
  await add(counts.moderation, (uploadId) =>
    enqueue(avatarModeration, { uploadId, round: 0 }, origin(uploadId)),
  );
  await add(counts.credentials, (requestId) =>
    enqueue(credentialRequests, { requestId, round: 0 }, origin(requestId)),
  );
}
