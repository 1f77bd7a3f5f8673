import { setTimeout as pause } from "node:timers/promises";
import { Command, CommanderError } from "commander";
import { StartError } from "../runtime/boot/start-error.ts";
import { Interrupted } from "../runtime/boot/stores.ts";
import { ConfigError, loadConfig } from "../platform/config/config.ts";
import { Refusal, Report, type ConsoleCommand } from "./command.ts";
import { commands } from "./commands.ts";

const interrupted = 130;
const expected = [Refusal, ConfigError, StartError, Interrupted];

const program = new Command("console")
  .description("Commands for operators; the same settings as the service, running or not")
  .option("--json", "print one JSON object")
  .exitOverride();

let exitCode = 0;

/**
 * `npm run console -- <command> [options]` (BOOT-03, CFG-02). The result goes to standard output,
 * with `--json` as one object; a refusal goes to standard error. Resolves to the exit code.
 */
export async function runConsole(): Promise<number> {
  for (const command of commands) register(command);
  try {
    await program.parseAsync();
    return exitCode;
  } catch (error) {
    return explain(error);
  }
}

function register(definition: ConsoleCommand): void {
  const command = program.command(definition.name).description(definition.summary);
  for (const [flags, text] of definition.required ?? []) command.requiredOption(flags, text);
  for (const [flags, text] of definition.optional ?? []) command.option(flags, text);
  command.option("--json", "print one JSON object");
  const { argument } = definition;
  if (argument) command.argument(`[${argument[0]}]`, argument[1]);
  command.action(async () => {
    const options: Record<string, string | true> = command.opts();
    const [word] = command.args;
    const given = argument && word !== undefined ? { ...options, [argument[0]]: word } : options;
    const made = await definition.run(loadConfig(), given);
    const isReport = made instanceof Report;
    if (isReport && made.hasFailed) exitCode = 1;
    if (definition.settleMs !== undefined) await pause(definition.settleMs);
    const isJson = Boolean(options["json"] ?? program.opts()["json"]);
    const result = isReport ? (isJson ? made.facts : made.text) : made;
    process.stdout.write(isJson ? `${JSON.stringify(result)}\n` : readable(result));
  });
}

function readable(result: Record<string, unknown> | string): string {
  if (typeof result === "string") return result;
  const width = Math.max(...Object.keys(result).map((name) => name.length)) + 2;
  const show = (value: unknown): string => {
    if (Array.isArray(value) && value.length > 0)
      return value.map((item) => `\n  ${JSON.stringify(item)}`).join("");
    return typeof value === "string" ? value : JSON.stringify(value);
  };
  return Object.entries(result)
    .map(([name, value]) => `${name.padEnd(width)}${show(value)}\n`)
    .join("");
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
  const isExpected = expected.some((kind) => error instanceof kind);
  const text =
    error instanceof Error
      ? isExpected
        ? error.message
        : (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`${text}\n`);
  return error instanceof Interrupted ? interrupted : 1;
}
