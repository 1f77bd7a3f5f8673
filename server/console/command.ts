import type { Config } from "../core/config.ts";

export interface ConsoleCommand {
  name: string;
  summary: string;
  required?: [flags: string, description: string][];
  optional?: [flags: string, description: string][];
  /** A text is printed as it is. */
  run: (
    config: Config,
    options: Record<string, string | true>,
  ) => Promise<Record<string, unknown> | string>;
}

/** What the user asked for cannot be done; the message starts with a code. */
export class Refusal extends Error {}
