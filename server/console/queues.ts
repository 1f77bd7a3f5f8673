import type { Queue } from "bullmq";
import type { Config } from "../platform/config/config.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { createQueues } from "../../workers/producer.ts";
import { allQueues } from "../../workers/queues.ts";
import { Refusal, reasonOf, type ConsoleCommand, type Options } from "./command.ts";
import { inStores, makeAudited } from "./in-database.ts";

const required: ConsoleCommand["required"] = [
  ["--queue <queue>", "such as mail"],
  ["--reason <reason>", "why, for the audit log"],
];

export const queueCommands: readonly ConsoleCommand[] = [
  {
    name: "queue:pause",
    summary: "Pause a queue: jobs wait, those that run end",
    required,
    run: (config, options) => setPaused(config, options, true),
  },
  {
    name: "queue:resume",
    summary: "Resume a paused queue",
    required,
    run: (config, options) => setPaused(config, options, false),
  },
];

/** The change is made once its audit record is stored (S16). */
async function setPaused(config: Config, options: Options, isPaused: boolean) {
  const reason = reasonOf(options, "queue");
  const name = String(options["queue"]);
  if (!allQueues.some((known) => known.name === name))
    throw new Refusal(`queue:not_found one of ${allQueues.map((known) => known.name).join(", ")}`);
  const action = isPaused ? "queue:pause" : "queue:resume";
  return inStores(config, ({ em, redisUrl }) =>
    makeAudited(em, { action, target: name, reason }, async () => {
      await withQueue(redisUrl, name, (queue) => (isPaused ? queue.pause() : queue.resume()));
      return { result: { queue: name, is_paused: isPaused }, numChanged: null };
    }),
  );
}

async function withQueue(
  redisUrl: string,
  name: string,
  work: (queue: Queue) => Promise<void>,
): Promise<void> {
  const queues = createQueues(redisUrl, silentLogger);
  try {
    const queue = queues.all().find((each) => each.name === name);
    if (queue) await work(queue);
  } finally {
    await queues.close();
  }
}
