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
import { BudgetExceeded } from "./budget.ts";
import { MalformedAnswer } from "./client.ts";

/** Queued calls; beyond it a call is refused at once. */
export const mostWaiting = 16;
/** Retries after the first attempt. */
const mostRetries = 2;
/** Consecutive server failures that open the circuit breaker. */
const failuresToBreak = 3;

export interface Timing {
  /** Timeout of a model call including its retries (TRV-13). */
  limitMs: number;
  /** Pause before the first retry: exponential backoff with jitter. */
  firstDelayMs: number;
  /** Time until an open circuit breaker lets one call through. */
  breakMs: number;
}

/** Below the 20 s of a waiting caller, so that the bank's questions can be stored instead. */
export const usualTiming: Timing = { limitMs: 16_000, firstDelayMs: 400, breakMs: 30_000 };

export type Run = <T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Limits, times out and retries calls, behind a circuit breaker. */
export function createPolicies(
  concurrency: number,
  timing: Timing,
  onBreaker: (isOpen: boolean) => void,
): Run {
  const waits = new DelegateBackoff<{ attempt: number; result: object }>(({ attempt, result }) => {
    const requested = "error" in result ? retryAfterMs(result.error) : null;
    const grown = timing.firstDelayMs * 2 ** (attempt - 1);
    return requested ?? grown * (0.5 + Math.random());
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
 * True for a failure of the server, not of one request: a refused prompt or a malformed response must not open the
 * circuit.
 */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof BudgetExceeded || error instanceof MalformedAnswer) return false;
  const status = statusOf(error);
  // Without a status there was no response, or a timeout.
  return status === null || status === 408 || status === 429 || status >= 500;
}

/** Temporary failures: overload, open circuit, timeout, or a malformed response. */
function isPassing(error: unknown): boolean {
  if (error instanceof MalformedAnswer) return true;
  if (error instanceof BudgetExceeded || !(error instanceof Error)) return false;
  const status = statusOf(error);
  // Without a status there was no response.
  if (status === null)
    return /^API(?:Connection|ConnectionTimeout)Error$/.test(error.constructor.name);
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function statusOf(error: Error): number | null {
  return "status" in error && typeof error.status === "number" ? error.status : null;
}

/** Retry-After in either form of the header; null when absent. */
function retryAfterMs(error: unknown): number | null {
  const headers = error instanceof Error && "headers" in error ? error.headers : null;
  if (!(headers instanceof Headers)) return null;
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const requested = headers.get("retry-after");
  if (requested === null) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(requested)
    ? Number(requested) * 1_000
    : Date.parse(requested) - Date.now();
  return ms >= 0 ? ms : null;
}
