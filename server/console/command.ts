import type { Config } from "../platform/config/config.ts";

export type Options = Readonly<Record<string, string | true>>;

export interface ConsoleCommand {
  name: string;
  summary: string;
  required?: [flags: string, description: string][];
  optional?: [flags: string, description: string][];
  /** Optional positional argument; it is passed as an option of this name. */
  argument?: [name: string, description: string];
  /**
   * Time in which every process of a running service comes to answer with the change (COD-22): the console reports the
   * command as done after it.
   */
  settleMs?: number;
  /** A string is printed unchanged. */
  run: (config: Config, options: Options) => Promise<Record<string, unknown> | string | Report>;
}

/** A result with a text for people, and the facts for `--json`; a failed one exits with 1. */
export class Report {
  readonly text: string;
  readonly facts: Record<string, unknown>;
  readonly hasFailed: boolean;

  constructor(text: string, facts: Record<string, unknown>, hasFailed: boolean) {
    this.text = text;
    this.facts = facts;
    this.hasFailed = hasFailed;
  }
}

/** A refused command; its message starts with a code. */
export class Refusal extends Error {}

/** The value of an option, or undefined. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value.trim() : undefined;
}

const maxReason = 500;

/** The reason of a change for the audit log; `area` begins the refusal. */
export function reasonOf(options: Options, area: string): string {
  const reason = textOf(options, "reason") ?? "";
  if (reason === "" || reason.length > maxReason)
    throw new Refusal(`${area}:invalid_reason 1 to ${maxReason} characters`);
  return reason;
}
