import { parseArgs, type ParseArgsConfig } from "node:util";

/** The parsed command line; an invalid one ends the program with the reason and the usage. */
export function readArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse(usage, reason.replace(/\. .*/s, ""));
  }
}

/** An integer of at least `least`; otherwise the program ends. */
export function wholeNumber(usage: string, name: string, text: string, least = 1): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= least && text.trim() !== ""
    ? value
    : refuse(usage, `${name} must be a whole number of at least ${least}`);
}

export function refuse(usage: string, reason: string): never {
  process.stderr.write(`${reason}\nusage: ${usage}\n`);
  process.exit(1);
}
