import { silentLogger } from "../platform/log/logger.ts";
import type { Config } from "../platform/config/config.ts";
import { createQueues } from "../../workers/producer.ts";
import { codexImport } from "../../workers/queues.ts";
import { cancelJobs } from "../../workers/watch.ts";
import { Refusal, type ConsoleCommand, type Options } from "./command.ts";
import { inStores, makeAudited } from "./in-database.ts";

export const importCommands: readonly ConsoleCommand[] = [
  {
    name: "import:cancel",
    summary: "Cancel the queued and running imports of a game; they write nothing",
    required: [["--game <slug>", "game of the envelopes"]],
    run: cancelImports,
  },
];

async function cancelImports(config: Config, options: Options) {
  const game = String(options["game"]);
  return inStores(config, async ({ em, redis, redisUrl }) => {
    const queues = createQueues(redisUrl, silentLogger);
    try {
      const queue = queues.all().find(({ name }) => name === codexImport.name);
      const isOfGame = (payload: unknown) => (payload as { game?: unknown }).game === game;
      return await makeAudited(em, { action: "import:cancel", target: game }, async () => {
        const jobs = queue === undefined ? [] : await cancelJobs(queue, redis, isOfGame);
        if (jobs.length === 0)
          throw new Refusal(`import:no_job no import of ${game} is queued or running`);
        return { result: { game, jobs }, detail: { jobs }, numChanged: jobs.length };
      });
    } finally {
      await queues.close();
    }
  });
}
