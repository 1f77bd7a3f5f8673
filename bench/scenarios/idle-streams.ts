import type { Bot } from "../bots/bot.ts";
import { within } from "../load/deadline.ts";
import { defineScenario } from "../scenario.ts";

const openMs = 15_000;
const reopened = "lost stream open again";

/** Streams of the public list that open one after another and stay open, idle: 1,200 at the end. */
export const scenario = defineScenario({
  about: "event streams that open one after another and stay idle",
  load: { shape: "constant", perSecond: 20, seconds: 60 },
  besidesSeconds: 10,
  budgets: [
    "open errors <= 0.1 %",
    "open response p50 <= 25 ms",
    "open response p90 <= 100 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    return { run, leaving: new AbortController(), streams: [] as Promise<void>[] };
  },
  async arrive({ run, leaving, streams }, { dueAt }) {
    const bot = run.bot();
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const stream = stayOpen(bot, leaving.signal, resolve);
    streams.push(stream.catch(() => undefined));
    const failed = stream.then(() => Promise.reject(new Error("the stream ended at once")));
    await bot.measure("open", dueAt, () =>
      within(openMs, "the stream", Promise.race([opened, failed])),
    );
  },
  async teardown({ leaving, streams }) {
    leaving.abort();
    await Promise.all(streams);
  },
});

async function stayOpen(bot: Bot, signal: AbortSignal, onOpen: () => void): Promise<void> {
  let lostAt: number | null = null;
  const onState = (state: string) => {
    if (state === "lost") lostAt ??= performance.now();
    if (state !== "open") return;
    if (lostAt !== null) bot.figure(reopened, performance.now() - lostAt);
    lostAt = null;
    onOpen();
  };
  for await (const _ of bot.client.publicLobbies({ signal, onState }));
}
