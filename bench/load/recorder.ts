import { Times } from "./histogram.ts";
import { lateMs, LoopWatch } from "./health.ts";
import type {
  ErrorGroup,
  ErrorSample,
  GeneratorHealth,
  GeneratorNotice,
  OperationSecond,
  Played,
  Second,
  Violation,
} from "./record.ts";

const maxGroups = 100;
const maxSamples = 5;
const maxViolations = 100;
/** Share of late operations among those under way up to which the load is as planned. */
const calmShare = 0.1;
/** Longer texts of errors are cut. */
const maxMessage = 300;

interface OpenOperation extends Omit<OperationSecond, "response" | "service"> {
  response: Times;
  service: Times;
}

interface OpenSecond extends Omit<Second, "operations" | "lateness"> {
  lateness: Times;
  operations: Map<string, OpenOperation>;
  /** Operations that were due in it and have not ended. */
  open: number;
}

/** An operation under way. */
export interface Started {
  operation: string;
  dueAt: number;
  sentAt: number;
  second: OpenSecond;
  isLate: boolean;
  /** When it was sent, few late operations were under way: it did not meet a burst that was not planned. */
  isCalm: boolean;
}

/**
 * Everything one generator process measures. Times belong to the second in which their operation was due; a second is
 * handed on when all its operations have ended.
 */
export class Recorder {
  readonly violations: Violation[] = [];
  numViolations = 0;
  readonly #notify: (notice: GeneratorNotice) => void;
  readonly #seconds = new Map<number, OpenSecond>();
  readonly #groups = new Map<string, ErrorGroup>();
  #watch = new LoopWatch(performance.now());
  #startedAt = performance.now();
  #numOpen = 0;
  #numLate = 0;

  constructor(notify: (notice: GeneratorNotice) => void) {
    this.#notify = notify;
  }

  /** The load lasts from this time on; what came before, such as a setup, does not count. */
  begin(startedAt: number, seconds = Infinity): void {
    this.#seconds.clear();
    this.#groups.clear();
    this.#startedAt = startedAt;
    this.#watch.stop();
    this.#watch = new LoopWatch(startedAt, startedAt + seconds * 1000);
  }

  /** Ends the measurement of this process. */
  end(): GeneratorHealth {
    this.flush(true);
    this.#watch.stop();
    return this.#watch.health();
  }

  get errors(): ErrorGroup[] {
    return [...this.#groups.values()];
  }

  /** An arrival is being sent. */
  sent(dueAt: number, now: number): void {
    this.#watch.note(now);
    const second = this.#secondOf(dueAt);
    second.sent += 1;
    if (now - dueAt > lateMs) second.late += 1;
    second.lateness.record(now - dueAt);
  }

  dropped(dueAt: number): void {
    this.#secondOf(dueAt).dropped += 1;
  }

  start(operation: string, dueAt: number): Started {
    const sentAt = performance.now();
    this.#watch.note(sentAt);
    const second = this.#secondOf(dueAt);
    second.open += 1;
    const isLate = sentAt - dueAt > lateMs;
    const isCalm = this.#numLate <= this.#numOpen * calmShare;
    this.#numOpen += 1;
    if (isLate) this.#numLate += 1;
    return { operation, dueAt, sentAt, second, isLate, isCalm };
  }

  succeeded(started: Started): void {
    const now = this.#end(started);
    const { operation, second, dueAt, sentAt, isLate, isCalm } = started;
    const one = operationIn(second, operation);
    one.count += 1;
    one.response.record(now - dueAt);
    const isClean = !isLate && isCalm && this.#watch.stalledUntil <= dueAt;
    if (isClean) one.service.record(now - sentAt);
  }

  failed(
    started: Started,
    error: { code: string; status: number } & Omit<ErrorSample, "at">,
  ): void {
    this.#end(started);
    const one = operationIn(started.second, started.operation);
    if (error.status === 429) one.limited += 1;
    else one.failed += 1;
    this.#note(started, error);
  }

  /** Arrival `n` ended with an error outside of its operations, such as a wait that took too long. */
  broken(n: number, error: { code: string; status: number; message: string }): void {
    const started = this.start("arrival", performance.now());
    const request = null;
    this.failed(started, { bot: `arrival ${n}`, requestId: null, request, ...error });
  }

  /** A time that the scenario measured itself, in milliseconds, such as a delivery. */
  figure(name: string, ms: number): void {
    const second = this.#secondOf(performance.now() - ms);
    const one = operationIn(second, name);
    one.count += 1;
    one.response.record(ms);
  }

  violation(violation: Violation): void {
    this.numViolations += 1;
    if (this.violations.length < maxViolations) this.violations.push(violation);
  }

  /** A lobby was played to its end. */
  played(played: Played): void {
    this.#notify({ played });
  }

  /** Hands on the seconds that have passed and whose operations have ended; `all`: every one. */
  flush(all = false): void {
    const now = this.#indexOf(performance.now());
    for (const [index, second] of this.#seconds)
      if (all || (index < now - 1 && second.open === 0)) {
        this.#seconds.delete(index);
        this.#notify({ second: encoded(second) });
      }
  }

  #end({ second, isLate }: Started): number {
    const now = performance.now();
    this.#watch.note(now);
    second.open -= 1;
    this.#numOpen -= 1;
    if (isLate) this.#numLate -= 1;
    return now;
  }

  #note({ operation }: Started, error: Parameters<Recorder["failed"]>[1]): void {
    const { code, status, message, ...sample } = error;
    const key = `${operation} ${status} ${code}`;
    const known = this.#groups.get(key);
    if (!known && this.#groups.size >= maxGroups) return;
    const group = known ?? { operation, code, status, count: 0, samples: [] };
    this.#groups.set(key, group);
    group.count += 1;
    if (group.samples.length >= maxSamples) return;
    const at = (performance.now() - this.#startedAt) / 1000;
    group.samples.push({ at, ...sample, message: message.slice(0, maxMessage) });
  }

  #indexOf(at: number): number {
    return Math.max(0, Math.floor((at - this.#startedAt) / 1000));
  }

  #secondOf(dueAt: number): OpenSecond {
    const at = this.#indexOf(dueAt);
    let second = this.#seconds.get(at);
    if (!second) {
      const empty = { at, sent: 0, late: 0, dropped: 0, open: 0 };
      second = { ...empty, lateness: new Times(), operations: new Map() };
      this.#seconds.set(at, second);
    }
    return second;
  }
}

function operationIn({ operations }: OpenSecond, name: string): OpenOperation {
  let one = operations.get(name);
  if (!one) {
    const counts = { count: 0, failed: 0, limited: 0 };
    one = { ...counts, response: new Times(), service: new Times() };
    operations.set(name, one);
  }
  return one;
}

const encodedOrNull = (times: Times) => (times.count === 0 ? null : times.encode());

function encoded({ open: _, lateness, operations, ...counts }: OpenSecond): Second {
  return {
    ...counts,
    lateness: encodedOrNull(lateness),
    operations: Object.fromEntries(
      [...operations].map(([name, { response, service, ...one }]) => [
        name,
        { ...one, response: encodedOrNull(response), service: encodedOrNull(service) },
      ]),
    ),
  };
}
