import { setTimeout as pause } from "node:timers/promises";
import { askOperator, type Operator } from "../bots/answers.ts";
import type { Bot } from "../bots/bot.ts";
import { within } from "../load/deadline.ts";
import { ownAddresses, queueOperator } from "../needs.ts";
import { defineScenario, type Run } from "../scenario.ts";

const queue = "/queues/credential-requests";
const numJobs = 10_000;
/** Each address may ask for five codes and five links a minute. */
const jobsPerBot = 10;
const askedAtOnce = 32;
const pollMs = 200;
const workedOffMs = 300_000;
const countedMs = 30_000;

interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}
interface Detail {
  queue: { counts: Record<string, number> };
  total: { num_completed: number; wait_ms: Percentiles | null; run_ms: Percentiles | null };
}

/** 10,000 requests for a sign-in code wait in their queue, which then works them off while operators look at it. */
export const scenario = defineScenario({
  about: "10,000 jobs of a queue worked off, while operators look at it",
  load: { shape: "constant", perSecond: 5, seconds: 60 },
  besidesSeconds: 29,
  settleSeconds: workedOffMs / 1000,
  needs: [queueOperator, ownAddresses("/v1/gateway/code/request", () => numJobs / 2)],
  budgets: [
    "jobs worked off errors <= 0 %",
    "jobs worked off response max <= 60 s",
    "queue page errors <= 0.1 %",
    "queue page response p50 <= 250 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const operator = run.operator ?? { url: "", token: null };
    const bot = run.bot();
    const before = (await look(bot, operator)).total.num_completed;
    await askOperator(bot, operator, "POST", `${queue}/pause`);
    await fill(run).catch(async (error: unknown) => {
      await askOperator(bot, operator, "POST", `${queue}/resume`);
      throw error;
    });
    return { operator, before };
  },
  async arrive({ operator, before }, { n, dueAt, bot: newBot, signal }) {
    const bot = newBot();
    if (n > 0) return void (await bot.measure("queue page", dueAt, () => look(bot, operator)));
    const until = (isOver: (detail: Detail) => boolean) => lookUntil(bot, operator, isOver, signal);
    await bot.measure("jobs worked off", dueAt, async () => {
      await askOperator(bot, operator, "POST", `${queue}/resume`);
      await within(workedOffMs, "the end of the last job", until(isEmpty));
    });
    const isCounted = ({ total }: Detail) => total.num_completed - before >= numJobs;
    const { total } = await within(countedMs, "the times of all jobs", until(isCounted));
    for (const [what, times] of Object.entries({ wait: total.wait_ms, run: total.run_ms }))
      for (const [percentile, ms] of Object.entries(times ?? {}))
        bot.figure(`job ${what} ${percentile}`, ms);
  },
  async teardown({ operator }, run) {
    await askOperator(run.bot(), operator, "POST", `${queue}/resume`);
  },
});

const look = (bot: Bot, operator: Operator) => askOperator<Detail>(bot, operator, "GET", queue);

async function lookUntil(
  bot: Bot,
  operator: Operator,
  isOver: (detail: Detail) => boolean,
  signal: AbortSignal,
): Promise<Detail> {
  for (;;) {
    const detail = await look(bot, operator);
    if (isOver(detail)) return detail;
    await pause(pollMs, undefined, { signal });
  }
}

const isEmpty = ({ queue: { counts } }: Detail) =>
  Object.entries(counts).every(([state, count]) => /completed|failed/.test(state) || count === 0);

/** Nobody has these addresses, so that no mail goes out. */
async function fill(run: Run): Promise<void> {
  let left = run.share(numJobs / jobsPerBot);
  const lane = async () => {
    while (left-- > 0) {
      const { name, visitor } = run.bot();
      for (let n = 0; n < jobsPerBot; n++) {
        const path = n % 2 === 0 ? "code/request" : "reset-password/request";
        const body = { email: `${name}-${n}@example.com` };
        await visitor.call("POST", `/v1/gateway/${path}`, { body });
      }
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, lane));
}
