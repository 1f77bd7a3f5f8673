import assert from "node:assert/strict";
import type { MikroORM } from "@mikro-orm/postgresql";
import type { Queue } from "bullmq";
import { createOrm } from "../../db/orm.ts";
import type { FaultAction } from "../../db/entities/fault-action.ts";
import { createFaultStore } from "../../server/features/faults/domain/fault-store.ts";
import { createActionService } from "../../server/operator/failures/service.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { Fault, type FaultCode } from "../../server/platform/faults/fault.ts";
import { BatchingFaultRecorder } from "../../server/platform/faults/recorder.ts";
import { createInstance } from "../../server/platform/instance.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { startJobs, type Jobs, type Processors } from "../../workers/jobs.ts";
import { createQueues } from "../../workers/producer.ts";
import { credentialRequests, mail } from "../../workers/queues.ts";
import type { ActionTimings } from "../../workers/processors/group-action-run.ts";
import {
  actOnGroup,
  endGroupAction,
  type GroupActionDeps,
} from "../../workers/processors/group-actions.ts";
import { eventually } from "../support/eventually.ts";
import { testStores } from "../support/stores.ts";

export const reason = "the provider is back";
/** Short enough for a test that waits for jobs of a paused queue. */
export const shortWaits: Partial<ActionTimings> = {
  ...{ trialMs: 400, idleMs: 400, recordMs: 5_000, longestMs: 30_000 },
  pollEveryMs: 20,
};

/** Processors that fail as `failsWith` says. */
const failing = (run: (name: string) => void): Processors<unknown> => ({
  mail: async ({ messageId }: { messageId: number }) => run(`message-${messageId}-0`),
  "credential-requests": async ({ requestId }: { requestId: number }) =>
    run(`request-${requestId}-0`),
});

export const actingProcessors = {
  processors: { "group-actions": actOnGroup } as Processors<GroupActionDeps>,
  failureSteps: { "group-actions": endGroupAction } as Processors<GroupActionDeps>,
};

/** Queues whose jobs fail on demand, groups of their failures, and actions on them, all with real stores. */
export async function openActions() {
  const stores = await testStores();
  const redis = connectRedis(stores.redisUrl, silentLogger, "test");
  await redisReady(redis);
  const orm = await createOrm(parseConfig({ DATABASE_URL: stores.databaseUrl }));
  const queues = createQueues(stores.redisUrl, silentLogger);
  const metrics = createMetrics();
  const store = createFaultStore(redis, systemClock);
  const faults = new BatchingFaultRecorder({
    ...{ store, clock: systemClock, log: silentLogger, metrics, everyMs: 20 },
    instance: createInstance({ role: "jobs", index: 0, version: "1" }),
  });
  const runs: string[] = [];
  /** The failure of a job; null: it succeeds. */
  const failures = new Map<string, FaultCode | null>();
  const named = async (name: string): Promise<Queue> =>
    queues.all().find((queue) => queue.name === name) ?? assert.fail(name);
  const run = (name: string) => {
    runs.push(name);
    const code = failures.get(name) ?? null;
    if (code !== null) throw new Fault(code, { peer: "mail.example:25", isPermanent: true });
  };
  const common = { redisUrl: stores.redisUrl, log: silentLogger, metrics, faults };
  const workers: Jobs[] = [
    await startJobs({ ...common, processors: failing(run), depsOf: () => null }),
  ];
  let isAway = false;
  const open = async (): Promise<MikroORM> => (isAway ? Promise.reject(new Error("away")) : orm);
  const service = createActionService({ store, open, clock: systemClock, redis, queues });
  let lastId = 0;

  /** Starts a worker for actions alone; a crash of another one is noticed after the shortest time. */
  const act = async (actionTimings: Partial<ActionTimings> = shortWaits) => {
    const deps = { redis, clock: systemClock, log: silentLogger, queueNamed: named, actionTimings };
    const jobs = await startJobs<GroupActionDeps>({
      ...common,
      ...actingProcessors,
      depsOf: () => ({ ...deps, em: orm.em.fork() }),
      lockMs: 2_000,
    });
    workers.push(jobs);
    return jobs;
  };

  /** Adds jobs that fail with this code, and returns the id of their group and their ids. */
  async function fail(
    code: FaultCode,
    count: number,
    queue: "mail" | "credential-requests" = "mail",
  ) {
    const ids = await Promise.all(
      Array.from({ length: count }, async () => {
        const number = ++lastId;
        const isMail = queue === "mail";
        failures.set(isMail ? `message-${number}-0` : `request-${number}-0`, code);
        return isMail
          ? queues.enqueue(mail, { messageId: number, round: 0 }, noOrigin)
          : queues.enqueue(credentialRequests, { requestId: number, round: 0 }, noOrigin);
      }),
    );
    const group = async () => (await store.list()).groups.find(({ key }) => key.code === code);
    await eventually(`${count} failures`, async () => (await group())?.numJobs === count);
    return { group: (await group())?.id ?? assert.fail(), ids };
  }

  const start = (
    group: string,
    { kind = "retry" as "retry" | "remove", rate = 1_000 } = {},
  ): Promise<FaultAction> =>
    service.start(group, { kind, rate, reason, by: "olga", requestId: "request-1" });

  /** The action once it has ended. */
  async function ended(group: string, id: number): Promise<FaultAction> {
    const find = () => service.find(group, id);
    await eventually("the end of the action", async () => Boolean((await find()).endedAt));
    return find();
  }

  return {
    ...{ stores, redis, orm, queues, store, service, named, runs, act, fail, start, ended },
    /** The jobs fail with another code from now on, or succeed. */
    set: (ids: readonly string[], code: FaultCode | null) =>
      ids.forEach((id) => failures.set(id, code)),
    runsOf: (ids: readonly string[]) => ids.map((id) => runs.filter((each) => each === id).length),
    setAway: (value: boolean) => (isAway = value),
    stop: async () => {
      for (const jobs of workers) await jobs.close();
      await faults.stop();
      await queues.close();
      redis.disconnect();
      await orm.close(true);
      await stores.stop();
    },
  };
}

export type ActionsApp = Awaited<ReturnType<typeof openActions>>;

export const resultOf = (action: FaultAction) => ({
  state: action.state,
  jobs: action.numJobs,
  succeeded: action.numSucceeded,
  failedAgain: action.numFailedAgain,
  removed: action.numRemoved,
  skipped: action.numSkipped,
  waiting: action.numWaiting,
});

export const nothing = {
  ...{ state: "done", jobs: 0, succeeded: 0, failedAgain: 0 },
  ...{ removed: 0, skipped: 0, waiting: 0 },
} as const;
