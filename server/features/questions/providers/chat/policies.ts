import {
  bulkhead,
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  DelegateBackoff,
  handleWhen,
  retry,
  timeout,
  TimeoutStrategy,
  wrap,
} from "cockatiel";
import { BudgetSpent } from "./budget.ts";
import { MalformedAnswer } from "./client.ts";

/** Calls that wait for a free place; beyond them the caller is refused at once. */
export const mostWaiting = 16;
/** Tries after the first one. */
const mostRetries = 2;
/** Requests in a row that a server in trouble failed, which stop the calls for a while. */
const failuresToBreak = 3;

export interface Timing {
  /** The whole of one request to the model, with its retries (TRV-13). */
  limitMs: number;
  /** Pause before the first retry; it doubles, with some chance in it. */
  firstDelayMs: number;
  /** How long a broken circuit stays so before one call may try again. */
  breakMs: number;
}

/** Leaves whoever waits for the questions, 20 s at most, time to store those of the bank instead. */
export const usualTiming: Timing = { limitMs: 16_000, firstDelayMs: 400, breakMs: 30_000 };

export type Run = <T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Bounds calls in number and time, repeats those that may succeed, and stops when nothing does. */
export function createPolicies(
  concurrency: number,
  timing: Timing,
  onBreaker: (isOpen: boolean) => void,
): Run {
  const waits = new DelegateBackoff<{ attempt: number; result: object }>(({ attempt, result }) => {
    const told = "error" in result ? retryAfterMs(result.error) : null;
    const grown = timing.firstDelayMs * 2 ** (attempt - 1);
    return told ?? grown * (0.5 + Math.random());
  });
  const mayHelp = (error: unknown) =>
    isPassing(error) && (retryAfterMs(error) ?? 0) < timing.limitMs;
  const retries = retry(handleWhen(mayHelp), { maxAttempts: mostRetries, backoff: waits });
  const breaker = circuitBreaker(handleWhen(isOutage), {
    breaker: new ConsecutiveBreaker(failuresToBreak),
    halfOpenAfter: timing.breakMs,
  });
  breaker.onStateChange((state) => onBreaker(state !== CircuitState.Closed));
  const policies = wrap(bulkhead(concurrency, mostWaiting), breaker, retries);
  return (limitMs, work) =>
    timeout(limitMs, TimeoutStrategy.Aggressive).execute(({ signal }) =>
      policies.execute(({ signal: inner }) => work(inner), signal),
    );
}

/**
 * Says something of the server rather than of one request: a prompt that is refused, or answered with
 * nonsense, takes nothing from the others.
 */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof BudgetSpent || error instanceof MalformedAnswer) return false;
  const status = statusOf(error);
  // Without a status there was no answer at all, or time was up before it came.
  return status === null || status === 408 || status === 429 || status >= 500;
}

/** Refusals of the moment: too busy, broken for now, cut off, or not what was asked for. */
function isPassing(error: unknown): boolean {
  if (error instanceof MalformedAnswer) return true;
  if (error instanceof BudgetSpent || !(error instanceof Error)) return false;
  const status = statusOf(error);
  // Without a status there was no answer at all.
  if (status === null)
    return /^API(?:Connection|ConnectionTimeout)Error$/.test(error.constructor.name);
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function statusOf(error: Error): number | null {
  return "status" in error && typeof error.status === "number" ? error.status : null;
}

/** What the server asks for, in either form of the header; null when it does not say. */
function retryAfterMs(error: unknown): number | null {
  const headers = error instanceof Error && "headers" in error ? error.headers : null;
  if (!(headers instanceof Headers)) return null;
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const told = headers.get("retry-after");
  if (told === null) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - Date.now();
  return ms >= 0 ? ms : null;
}
