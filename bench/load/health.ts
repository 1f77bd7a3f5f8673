import type { GeneratorHealth } from "./record.ts";

const tickMs = 5;
/** A shorter pause is a busy loop or a garbage collection, not a stall. */
const stallMs = 50;
const maxStalls = 100;

/** An operation sent this late does not count as one that the generator sent in time. */
export const lateMs = 50;

/** Share of late arrivals above which the generator, not the target, limits a run. */
const maxLateShare = 0.01;
const maxStalledShare = 0.01;
const maxCpuShare = 0.9;

/** Notices when the event loop of this process stands still, for whatever reason: even SIGSTOP. */
export class LoopWatch {
  readonly #startedAt: number;
  readonly #endsAt: number;
  #cpuAtEnd: NodeJS.CpuUsage | null = null;
  readonly #stalls: GeneratorHealth["stalls"] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #cpuAtStart = process.cpuUsage();
  #lastAt = performance.now();
  #numStalls = 0;
  #stalledMs = 0;
  /** End of the last stall, by `performance.now()`. */
  stalledUntil = -Infinity;

  /** Of the load, by `performance.now()`; stalls before and after it do not count. */
  constructor(startedAt: number, endsAt = Infinity) {
    this.#startedAt = startedAt;
    this.#endsAt = endsAt;
    this.#timer = setInterval(() => this.note(performance.now()), tickMs).unref();
  }

  /**
   * Called by the timer and at every start and end of an operation: after a stall the answers that came meanwhile are
   * handled before any timer.
   */
  note(now: number): void {
    const ms = now - this.#lastAt;
    this.#lastAt = now;
    if (now > this.#endsAt) this.#cpuAtEnd ??= process.cpuUsage(this.#cpuAtStart);
    if (ms < stallMs) return;
    this.stalledUntil = now;
    if (now - ms > this.#endsAt) return;
    this.#numStalls += 1;
    this.#stalledMs += ms;
    if (this.#stalls.length < maxStalls)
      this.#stalls.push({ atMs: now - ms - this.#startedAt, ms });
  }

  health(): GeneratorHealth {
    const { user, system } = this.#cpuAtEnd ?? process.cpuUsage(this.#cpuAtStart);
    return {
      stalls: this.#stalls,
      numStalls: this.#numStalls,
      stalledMs: this.#stalledMs,
      peakMib: process.resourceUsage().maxRSS / 1024,
      cpuSeconds: (user + system) / 1e6,
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Why the generators, not the target, limited an open load; empty: they did not. */
export function limitsOf(given: {
  generators: readonly GeneratorHealth[];
  /** Arrivals, and those sent more than `lateMs` after their intended time. */
  sent: number;
  late: number;
  seconds: number;
}): string[] {
  const { generators, sent, late, seconds } = given;
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const reasons: string[] = [];
  if (late > sent * maxLateShare)
    reasons.push(`${percent(late / sent)} of the arrivals were sent over ${lateMs} ms late`);
  for (const [index, { stalledMs, numStalls, cpuSeconds }] of generators.entries()) {
    if (stalledMs > seconds * 1000 * maxStalledShare)
      reasons.push(
        `generator ${index} stood still ${numStalls === 1 ? "once" : `${numStalls} times`}, ${stalledMs.toFixed(0)} ms together`,
      );
    if (cpuSeconds > seconds * maxCpuShare)
      reasons.push(`generator ${index} used ${percent(cpuSeconds / seconds)} of a core`);
  }
  return reasons;
}
