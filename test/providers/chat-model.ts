import { after, before, beforeEach } from "node:test";
import type { Redis } from "ioredis";
import { noFaults } from "../../server/platform/faults/recorder.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics, type Metrics } from "../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { createChatModel } from "../../server/features/questions/providers/chat/index.ts";
import type { QuestionRequest } from "../../server/features/questions/providers/question-model.ts";
import { startChatServer, type ChatServer } from "../support/chat-server.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { manualClock } from "../support/clock.ts";
import { noOrigin } from "../../server/platform/origin.ts";

export const ask = (change: Partial<QuestionRequest> = {}): QuestionRequest => ({
  category: "history",
  difficulty: "medium",
  prompt: null,
  model: null,
  count: 3,
  origin: noOrigin,
  exclude: new Set(),
  ...change,
});

export const written = (n: number, change: object = {}) => ({
  question: `Which of these rivers was dammed first, in case ${n}?`,
  choices: [`Danube ${n}`, `Rhine ${n}`, `Rhone ${n}`, `Loire ${n}`],
  correct_index: 2,
  explanation: "It was dammed when the others still ran free to the sea.",
  estimated_rate: 41,
  ...change,
});

export const batch = (...questions: unknown[]) => ({ value: { questions } });
export let chat: ChatServer;
let stores: TestStores;
export let redis: Redis;
export let metrics: Metrics;
const startedAt = Date.UTC(2026, 0, 1);
export let clock = manualClock(startedAt);

export const create = (env: Record<string, string> = {}, timing: object = {}) => {
  const given = { GENERATOR_URL: chat.url, GENERATOR_VERIFY: "false", GENERATOR_KEY: "k1" };
  return createChatModel(parseConfig({ ...given, ...env }), {
    redis,
    clock,
    log: silentLogger,
    metrics,
    faults: noFaults,
    timing: { limitMs: 8_000, firstDelayMs: 5, breakMs: 60_000, ...timing },
  });
};

export const outcomes = async (metric: {
  get(): Promise<{ values: { labels: object; value: number }[] }>;
}) =>
  Object.fromEntries(
    (await metric.get()).values
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [Object.values(labels).join(" "), value]),
  );

/** Closes every connection, so that no call waits for its timeout. */
export async function stopAndStart(): Promise<void> {
  chat.script({ status: 400 });
  await chat.stop();
  chat = await startChatServer();
}

/** A chat server that answers as a test says, and empty stores before each test. */
export function startsChatServer(): void {
  before(async () => {
    clock = manualClock(startedAt);
    chat = await startChatServer();
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await chat.stop();
    await stores.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
    metrics = createMetrics();
  });
}
