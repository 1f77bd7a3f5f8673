import assert from "node:assert/strict";
import { Worker } from "bullmq";
import { insertOperator } from "../../../db/queries/operator/operators.ts";
import type { OperatorDeps } from "../../../server/operator/deps.ts";
import { boardRoutes } from "../../../server/operator/board/routes.ts";
import { createDatabase } from "../../../server/operator/database.ts";
import { OutageWatch } from "../../../server/operator/outages/watch.ts";
import { operatorRoutes } from "../../../server/operator/routes.ts";
import { createOperatorServer } from "../../../server/operator/server.ts";
import { createOperatorDeps } from "../../../server/operator/services.ts";
import { hashToken } from "../../../server/operator/session/identity.ts";
import { operatorRoles, type OperatorRole } from "../../../server/http/auth/auth.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { startingProbes } from "../../../server/platform/probes.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { noRequests } from "../../../server/platform/requests/tracker.ts";
import type { AllQuestion, Question } from "../../../server/runtime/process-questions.ts";
import { createQueues } from "../../../workers/producer.ts";
import { queuePrefixOf } from "../../../workers/queues.ts";
import { startApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";

export const tokenOf = (role: OperatorRole) => `token-of-the-${role}-0123456789`;

/**
 * The service and its whole operator listener in one process: real routes, services, sessions and stores; the primary
 * answers as `answers` says.
 */
export async function startWholeOperator(answers: Partial<Record<Question, unknown>>) {
  const app = await startApp({ hasJobs: false, env: { AVATAR_MODERATION: "manual" } });
  const { config, clock, metrics, orm, redis } = app.deps;
  const queues = createQueues(app.stores.redisUrl, silentLogger);
  const database = createDatabase(config, redis, noFaults);
  const asked: Question[] = [];
  const ask = async (question: Question, about?: unknown) => {
    asked.push(question);
    if (question !== "fleet") return answers[question] ?? null;
    const answer = answers[(about as AllQuestion).question] ?? null;
    return [{ instance: "here", host: "a host", answer }];
  };
  const outages = new OutageWatch({
    stores: async () => ({ postgres: "ok", redis: "ok" }),
    processes: () => ask("processes"),
    clock,
  });
  const deps: OperatorDeps = createOperatorDeps({
    ...{ config, clock, metrics, redis, queues, database, outages, log: silentLogger },
    link: { ask },
    probes: () => startingProbes,
  });
  const server = createOperatorServer({
    base: { config, clock, metrics, redis, faults: noFaults, requests: noRequests, tracer: null },
    deps,
    routes: [...operatorRoutes, ...boardRoutes(queues.all(), deps.jobTimes)],
    ...{ log: silentLogger, outages },
  });
  for (const role of operatorRoles) {
    const operator = { name: `the ${role}`, role, tokenHash: hashToken(tokenOf(role)) };
    await insertOperator(orm.em.fork(), operator);
  }
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  const queueOf = (name: string) =>
    queues.all().find((queue) => queue.name === name) ?? assert.fail(name);
  return {
    ...{ app, deps, url, queues, queueOf, asked },
    /** The session cookie of a browser that signs in. */
    signIn: async (role: OperatorRole) => {
      const body = new URLSearchParams({ token: tokenOf(role) });
      const sent = { method: "POST", redirect: "manual", body } as const;
      const { headers } = await fetch(`${url}/operator/login`, sent);
      return (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    },
    /** Adds jobs and lets a worker of this queue run each of them into this error. */
    failJobs: async (name: string, jobs: Readonly<Record<string, object>>, error: Error) => {
      const queue = queueOf(name);
      for (const [jobId, data] of Object.entries(jobs))
        await queue.add(name, data, { jobId, attempts: 1 });
      const connection = connectRedis(app.stores.redisUrl, silentLogger, "test", {
        waitsForConnection: true,
      });
      await redisReady(connection);
      const prefix = queuePrefixOf(connection);
      const worker = new Worker(name, () => Promise.reject(error), { connection, prefix });
      const count = Object.keys(jobs).length;
      const isDone = async () => ((await queue.getJobCounts("failed"))["failed"] ?? 0) >= count;
      await eventually(`${name} has failed jobs`, isDone);
      await worker.close(true);
      connection.disconnect();
    },
    stop: async () => {
      await server.drain();
      await queues.close();
      await database.close();
      await app.stop();
    },
  };
}

export type WholeOperator = Awaited<ReturnType<typeof startWholeOperator>>;
