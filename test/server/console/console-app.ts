import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before } from "node:test";
import { Option } from "commander";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { Refusal, Report, type Options } from "../../../server/console/command.ts";
import { commands } from "../../../server/console/commands.ts";
import type { Config } from "../../../server/platform/config/config.ts";
import { startApp, type App } from "../../support/app.ts";
import { temporaryDataDir } from "../../support/process.ts";

export let dataDir = "";
export let app: App;

export async function run(
  name: string,
  options: Options = {},
  settings: Partial<Config> = {},
): Promise<Record<string, unknown>> {
  const command = commands.find((each) => each.name === name);
  assert.ok(command, name);
  const flags = [...(command.required ?? []), ...(command.optional ?? [])];
  const known = flags.map(([each]) => new Option(each).attributeName());
  if (command.argument) known.push(command.argument[0]);
  for (const given of Object.keys(options)) assert.ok(known.includes(given), `${name} ${given}`);
  const result = await command.run({ ...app.deps.config, ...settings }, options);
  assert.ok(typeof result === "object");
  return result instanceof Report ? result.facts : result;
}

export const refused = (
  name: string,
  options: Options,
  code: string,
  settings: Partial<Config> = {},
) =>
  assert.rejects(
    run(name, options, settings),
    (error) => error instanceof Refusal && error.message.startsWith(code),
  );

/** Target and reason of the changes of a command that ended like this. */
export const audited = async (action: string, outcome = "done") => {
  const rows = await rowsOf(
    app.deps.em,
    sql<{ text: string }>`select target || ': ' || reason as text from audit_log
      where action = ${action} and outcome = ${outcome} order by id`,
  );
  return rows.map(({ text }) => text);
};

/** The service whose stores the commands use. */
export function startsConsoleApp(): void {
  before(async () => {
    dataDir = temporaryDataDir();
    app = await startApp({ env: { DATA_DIR: dataDir }, hasJobs: false });
  });
  after(async () => {
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
}
