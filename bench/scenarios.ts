import { existsSync, globSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Scenario } from "./scenario.ts";

const folder = join(import.meta.dirname, "scenarios");

/** Names of the scenarios in `bench/scenarios/`. */
export const scenarioNames = (): string[] =>
  globSync("*.ts", { cwd: folder })
    .map((file) => basename(file, ".ts"))
    .toSorted();

export const isScenario = (name: string): boolean => scenarioNames().includes(name);

export interface LoadedScenario {
  name: string;
  file: string;
  scenario: Scenario;
}

/** A scenario by its name or the path of its file. Throws if there is none. */
export async function loadScenario(nameOrPath: string): Promise<LoadedScenario> {
  const isPath = /[/.]/.test(nameOrPath) || isAbsolute(nameOrPath);
  if (!isPath && !isScenario(nameOrPath))
    throw new RangeError(
      `there is no scenario "${nameOrPath}", only ${scenarioNames().join(", ")}, or the path of a file`,
    );
  const file = isPath ? resolve(nameOrPath) : join(folder, `${nameOrPath}.ts`);
  if (!existsSync(file)) throw new RangeError(`there is no file ${file}`);
  const loaded = (await import(pathToFileURL(file).href)) as { scenario?: Scenario };
  if (!loaded.scenario) throw new RangeError(`${file} exports no \`scenario\``);
  return { name: basename(file, ".ts"), file, scenario: loaded.scenario };
}
