import type { Config } from "../platform/config/config.ts";

export type Options = Readonly<Record<string, string | true>>;

export interface ConsoleCommand {
  name: string;
  summary: string;
  required?: [flags: string, description: string][];
  optional?: [flags: string, description: string][];
  /** A word that may follow the name; it comes as an option of this name. */
  argument?: [name: string, description: string];
  /** A text is printed as it is. */
  run: (config: Config, options: Options) => Promise<Record<string, unknown> | string>;
}

/** What the user asked for cannot be done; the message starts with a code. */
export class Refusal extends Error {}

/** The text of an option, or undefined when it was not given. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value.trim() : undefined;
}
