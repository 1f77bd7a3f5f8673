import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { EmberlineError } from "../server/web/client/emberline.ts";
import { serviceEnv, type Service } from "../test/support/process.ts";
import { builtProgram } from "../test/support/programs.ts";
import { howToGiveAddresses } from "./bots/addresses.ts";
import { askOperator } from "./bots/answers.ts";
import type { Fault } from "./report/schema.ts";
import type { Bot } from "./bots/bot.ts";
import type { Need, Run } from "./scenario.ts";

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

const operatorToken =
  "--operator-token-file with a token of `npm run console -- operator:create --name bench --role operator`";

/** Reads of the operator's pages and the change of a queue. */
export const queueOperator: Need = {
  async check(bot, { operator }) {
    if (operator === null)
      return `the operator listener is unknown: --operator-url, and ${operatorToken}`;
    const path = "/queues/credential-requests";
    const asked = askOperator<{ queue: { is_paused: boolean } }>(bot, operator, "GET", path);
    const refusal = await asked.then(
      ({ queue }) => (queue.is_paused ? "that queue is paused" : null),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        const isRefused = error instanceof EmberlineError && [401, 403].includes(error.status);
        return isRefused ? `${message} It needs ${operatorToken}` : message;
      },
    );
    return refusal && `${operator.url}/operator${path}: ${refusal}`;
  },
  provide: async () => undefined,
};

/**
 * An address for each bot, where the target allows one address less of a POST request in a minute than `wanted`.
 * Requests without a body that can be read show it: they count, and leave nothing.
 */
export const ownAddresses = (path: string, wanted: (run: Run) => number): Need => ({
  async check(bot, run) {
    const ask = async (from: Bot) => {
      const json = { "content-type": "application/json" };
      const { headers } = await from.fetch(run.url + path, {
        ...{ method: "POST", headers: json, body: "{" },
      });
      return ["limit", "remaining"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
    };
    const [limit = 0, left = 0] = await ask(bot);
    const needed = wanted(run);
    // A target without limits announces none.
    if (limit === 0 || needed <= limit) return null;
    if (!run.hasAddresses)
      return `one address may send POST ${path} ${limit} times a minute, and this load needs ${describeCount(needed)}: ${howToGiveAddresses}`;
    const [, leftOfOther = 0] = await ask(run.bot());
    const [, leftAfter = 0] = await ask(bot);
    if (left + leftOfOther === 0)
      return `no bot may send POST ${path} now: try again in a minute; if that changes nothing, TRUSTED_PROXIES of the target lacks this machine`;
    return left - leftAfter > 1
      ? "the target counts all bots as one address in spite of --addresses: TRUSTED_PROXIES of the target lacks this machine"
      : null;
  },
  provide: async () => undefined,
});

const describeCount = (count: number): string =>
  Number.isFinite(count) ? String(Math.ceil(count)) : "any number";

const numEntities = 5_000;
/** One in so many changes with each patch. */
const changedOf = 50;

/** A game in the archive, and imports of its patches as long as the load lasts. */
export const runningImport: Need = {
  async check(bot) {
    const { games } = await bot.visitor.call<{ games: unknown[] }>("GET", "/v1/codex/games");
    if (games.length > 0) return null;
    return "the archive has no game: `npm run import -- --write-sample /tmp/cinderhold`, then `npm run import -- gamedata /tmp/cinderhold` during the load";
  },
  provide: (instance) => importPatch(instance, 1),
  async beside({ target: { instance }, startedAt, signal }) {
    const faults: Fault[] = [];
    const now = () => (performance.now() - startedAt) / 1000;
    await pause(Math.max(0, -now() * 1000), undefined, { signal }).catch(() => undefined);
    for (let patch = 2; instance && !signal.aborted; patch++) {
      const at = now();
      await importPatch(instance, patch);
      faults.push({ name: `import ${patch}`, at, until: now(), recoveriesMs: [] });
    }
    return { faults, problems: [] };
  },
};

async function importPatch(instance: Service, patch: number): Promise<void> {
  const file = join(instance.dataDir, `bench-${patch}.json`);
  const entities = Array.from({ length: numEntities }, (_, n) => ({
    ...{ upstream_key: `Id_Item_N${n}`, type: "item", name: `Item ${n}`, links: [], assets: [] },
    tags: [n % 2 === 0 ? "even" : "odd"],
    data: { level: n % 60, power: n % changedOf === patch % changedOf ? patch : n },
  }));
  const header = { format: 1, game: { slug: "bench", display_name: "Bench" } };
  const version = {
    branch: { slug: "main" },
    patch: { version_raw: `1.${patch}`, released_at: null },
  };
  writeFileSync(file, JSON.stringify({ ...header, ...version, entities, locales: {} }));
  await runProgram("import", instance, "--envelope", file);
  rmSync(file);
}

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
