import type { Config } from "../platform/config/config.ts";
import {
  entriesCsv,
  filterOf,
  maxCsvEntries,
  readEntries,
} from "../features/operators/domain/audit-log.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { inDatabase } from "./in-database.ts";

const usualLimit = 50;

export const auditCommands: readonly ConsoleCommand[] = [
  {
    name: "audit:list",
    summary: "List changes of operators and of the console, newest first",
    optional: [
      ["--operator <name>", "name, or console"],
      ["--action <name>", "such as job:retry"],
      ["--target <text>", 'such as "player 7"'],
      ["--since <time>", "a date or a time, in UTC: at or after it"],
      ["--until <time>", "before it"],
      ["--limit <number>", `default ${usualLimit}, at most ${maxCsvEntries}`],
      ["--csv", "print CSV"],
    ],
    run: listAudit,
  },
];

async function listAudit(config: Config, options: Options) {
  const filter = filterOf({
    operator: textOf(options, "operator"),
    action: textOf(options, "action"),
    target: textOf(options, "target"),
    from: textOf(options, "since"),
    to: textOf(options, "until"),
  });
  if (filter === null)
    throw new Refusal("audit:time_invalid --since and --until are dates, or dates with a time");
  const limit = limitOf(textOf(options, "limit"));
  return inDatabase(config, async (em) => {
    if (options["csv"] === true) return entriesCsv(em, filter, limit);
    return { ...(await readEntries(em, filter, { limit, offset: 0 })) };
  });
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return usualLimit;
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxCsvEntries)
    throw new Refusal(`validation:failed --limit must be a number from 1 to ${maxCsvEntries}`);
  return limit;
}
