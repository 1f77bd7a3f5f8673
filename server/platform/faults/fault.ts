import { cutText } from "../text/cut-text.ts";
import { maskText } from "../text/masking.ts";

/** What failed and how, such as `smtp.refused`. */
export type FaultCode = `${string}.${string}`;

export interface FaultFacts {
  /** The other side as `host:port`. */
  peer?: string;
  /** Status of the response of the other side. */
  status?: number;
  /** Words of the other side, in whatever form it sent them. */
  text?: string;
  /** Values that the other side may repeat in its words, such as the recipient of a message. */
  secrets?: readonly string[];
  /** True: a retry cannot succeed. */
  isPermanent?: boolean;
  cause?: unknown;
}

/** Maximum characters of the other side's words. */
const maxText = 300;
/** Maximum characters read of them. */
const maxRead = 4_000;
/** Maximum causes followed from an error. */
const maxCauses = 5;

/**
 * A failure of another service, told by its parts instead of one sentence. Its message and its text reach logs, Redis
 * and pages, so both are masked (S27).
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly peer: string | null;
  readonly status: number | null;
  readonly text: string;
  readonly isPermanent: boolean;

  constructor(code: FaultCode, facts: FaultFacts = {}) {
    const { peer = null, status = null, isPermanent = false, cause } = facts;
    const text = wordsOf(facts.text ?? "", facts.secrets ?? []);
    const where = peer === null ? "" : ` at ${peer}`;
    const said = text === "" ? "" : `: ${text}`;
    super(`${code}${status === null ? "" : ` ${status}`}${where}${said}`, { cause });
    this.code = code;
    this.peer = peer;
    this.status = status;
    this.text = text;
    this.isPermanent = isPermanent;
  }
}

function wordsOf(text: string, secrets: readonly string[]): string {
  const start = cutText(text, maxRead);
  // Shorter ones occur in words that say nothing about anybody.
  const known = secrets.filter(({ length }) => length >= 4);
  const shown = known.reduce((left, secret) => left.replaceAll(secret, "***"), start);
  return maskText(shown.replaceAll(/\s+/g, " ").trim(), maxText);
}

/** The fault that an error is or was caused by. */
export function faultIn(error: unknown): Fault | null {
  let at = error;
  for (let depth = 0; depth <= maxCauses && at instanceof Error; depth++) {
    if (at instanceof Fault) return at;
    at = at.cause;
  }
  return null;
}
