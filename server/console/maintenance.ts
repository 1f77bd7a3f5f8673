import {
  changeMaintenance,
  maxMaintenanceText,
  maxRetryAfter,
  readMaintenance,
  type Maintenance,
} from "../features/rooms/domain/maintenance.ts";
import type { Config } from "../platform/config/config.ts";
import { systemClock, timestamp } from "../platform/time/clock.ts";
import { defaultRetryAfter, defaultText } from "../operator/maintenance/schemas.ts";
import { reasonOf, Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { inStores, makeAudited } from "./in-database.ts";

const reason: [flags: string, description: string] = [
  "--reason <reason>",
  "why, for the audit log",
];

export const maintenanceCommands: readonly ConsoleCommand[] = [
  {
    name: "maintenance:on",
    summary: "Refuse new rooms; those that are open go on",
    required: [reason],
    optional: [
      ["--text <text>", "what players read"],
      ["--retry-after <seconds>", `when they should try again, default ${defaultRetryAfter}`],
    ],
    run: (config, options) =>
      change(config, options, "maintenance:on", {
        text: maintenanceText(options),
        retryAfter: retryAfterOf(options),
        sinceMs: systemClock.now(),
      }),
  },
  {
    name: "maintenance:off",
    summary: "Open rooms again",
    required: [reason],
    run: (config, options) => change(config, options, "maintenance:off", null),
  },
  {
    name: "maintenance:status",
    summary: "Whether new rooms are refused, since when and with which text",
    run: (config) => inStores(config, async ({ redis }) => shown(await readMaintenance(redis))),
  },
];

/** Ends when every process knows. */
const change = (config: Config, options: Options, action: string, next: Maintenance | null) =>
  inStores(config, ({ em, redis }) => {
    const entry = { action, target: "new rooms", reason: reasonOf(options, "maintenance") };
    return makeAudited(em, entry, async () => {
      await changeMaintenance(redis, next);
      return { result: shown(await readMaintenance(redis)), numChanged: null };
    });
  });

const shown = (state: Maintenance | null) => ({
  is_on: state !== null,
  ...(state && {
    text: state.text,
    retry_after: state.retryAfter,
    since: timestamp(state.sinceMs),
  }),
});

function maintenanceText(options: Options): string {
  const text = (textOf(options, "text") ?? defaultText).trim();
  if (text !== "" && text.length <= maxMaintenanceText) return text;
  throw new Refusal(`maintenance:invalid_text 1 to ${maxMaintenanceText} characters`);
}

function retryAfterOf(options: Options): number {
  const seconds = Number(textOf(options, "retryAfter") ?? defaultRetryAfter);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= maxRetryAfter) return seconds;
  throw new Refusal(`maintenance:invalid_retry_after 1 to ${maxRetryAfter} seconds`);
}
