import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EmberlineError } from "../server/web/client/emberline.ts";
import { serviceEnv, type Service } from "../test/support/process.ts";
import { builtProgram } from "../test/support/programs.ts";
import type { Bot } from "./bots/bot.ts";

/** Something that a scenario needs at the target. */
export interface Need {
  /** A sentence that says what is missing and how to get it; null: it is there. */
  check(bot: Bot): Promise<string | null>;
  /** Puts it into an own instance. */
  provide(instance: Service): Promise<void>;
}

/** An award that players claim any number of times. */
export function repeatableAward(award: { award_id: string; game: string }): Need {
  const terms = { ...award, name: "Bench", ember_value: 1, repeatable: true };
  const definitions = JSON.stringify({ awards: [terms] });
  return {
    async check(bot) {
      try {
        await bot.client.call("POST", "/v1/embers/@me/awards", { body: award });
        return null;
      } catch (error) {
        if (!(error instanceof EmberlineError) || error.code !== "award:not_found") throw error;
        return `an award named ${award.award_id} of the game ${award.game} is missing: save ${definitions} as awards.json, and load it with \`npm run console -- awards:load --file awards.json\``;
      }
    },
    async provide(instance) {
      const file = join(instance.dataDir, "bench-awards.json");
      writeFileSync(file, definitions);
      await runConsole(instance, "awards:load", "--file", file);
      rmSync(file);
    },
  };
}

/** Data of the game behind `/v2`; an own instance gets the sample game. */
export const projectedGame: Need = {
  async check(bot) {
    const path = "/v2/items?limit=1";
    const { rows } = await bot.visitor.call<{ rows: unknown[] }>("GET", path);
    if (rows.length > 0) return null;
    return "the typed game data (/v2) has no items: `npm run import -- --write-sample /tmp/cinderhold`, then `npm run import -- gamedata /tmp/cinderhold` brings the sample game";
  },
  async provide(instance) {
    const folder = join(instance.dataDir, "bench-sample");
    await runProgram("import", instance, "--write-sample", folder);
    await runProgram("import", instance, "gamedata", folder);
    rmSync(folder, { recursive: true });
  },
};

/** Runs a command of the console against an own instance. */
export const runConsole = (instance: Service, ...args: string[]): Promise<void> =>
  runProgram("console", instance, ...args);

async function runProgram(
  name: "console" | "import",
  { dataDir, databaseUrl, redisUrl }: Service,
  ...args: string[]
): Promise<void> {
  const env = serviceEnv(dataDir, { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
  await promisify(execFile)(process.execPath, [...builtProgram(name), ...args], { env });
}
