import type { EntityManager } from "@mikro-orm/postgresql";
import { systemClock } from "../platform/time/clock.ts";
import { isDate } from "../platform/time/days.ts";
import { challengeKinds, datesDue, makeChallenges } from "../features/runs/domain/challenges.ts";
import { Refusal, textOf, type ConsoleCommand } from "./command.ts";
import { audit, inDatabase } from "./in-database.ts";

export const challengeCommands: readonly ConsoleCommand[] = [
  {
    name: "challenges:create",
    summary: "Create the challenges of a date, or of today and tomorrow in every time zone",
    optional: [["--date <date>", "YYYY-MM-DD"]],
    run: async (config, options) => {
      const date = textOf(options, "date");
      if (date !== undefined && !isDate(date))
        throw new Refusal("validation:failed --date must be a date of the form YYYY-MM-DD");
      const now = systemClock.now();
      const dates = date === undefined ? datesDue(now) : [date];
      const target = dates.join(", ");
      const make = async (em: EntityManager) => {
        const all = await makeChallenges(em, dates, { now });
        if (all.length < dates.length * challengeKinds.length)
          throw new Refusal("generator:unavailable there are too few questions to choose from");
        await audit(em, "challenges:create", target, { numChanged: dates.length });
        const shown = all.map(({ id, kind, date: day }) => ({ id, kind, date: day }));
        return { challenges: shown };
      };
      return inDatabase(config, make, { action: "challenges:create", target });
    },
  },
];
