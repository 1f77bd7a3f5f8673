import { pathToFileURL } from "node:url";
import type { Scenario } from "../scenario.ts";
import { notify, serveCalls } from "../rpc.ts";
import { Generator, optionsVariable, type GeneratorOptions } from "./generator.ts";

/** A generator of its own, so that neither the service nor the report takes its processor time. */
const [file = ""] = process.argv.slice(2);
/** Not among the arguments, which everybody on the machine can read: they may hold the token of an operator. */
const options = process.env[optionsVariable] ?? "{}";
const { scenario } = (await import(pathToFileURL(file).href)) as { scenario: Scenario };
const generator = new Generator(scenario, JSON.parse(options) as GeneratorOptions, notify);

// A signal may reach the whole group; the command decides what happens then.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);

const calls = {
  check: () => generator.check(),
  setup: () => generator.setup(),
  run: (epochMs: number) => generator.run(epochMs),
  lobbies: () => generator.lobbies(),
  cutStreams: () => generator.cutStreams(),
  stop: (how: { settles?: boolean }) => generator.stop(how),
  teardown: () => generator.teardown(),
};
export type GeneratorCalls = typeof calls;
serveCalls(calls);
