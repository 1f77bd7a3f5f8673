import { setTimeout as pause } from "node:timers/promises";
import { lastRelease, unpackRelease } from "../../test/support/releases.ts";
import { percentileOrMax } from "../load/histogram.ts";
import type { Violation } from "../load/record.ts";
import type { RollingSizes } from "../floor-scenario.ts";
import { note } from "../report.ts";
import { atDeath } from "./at-death.ts";
import type { BalancerName } from "./balancer.ts";
import type { StreamResult } from "./followers.ts";
import type { FailedRequest, RequestResult } from "./requests.ts";
import { steps, type RollingTimes, type Step } from "./steps.ts";
import { untilFollowed, withWorld, type World } from "./world.ts";

/** What a step did to the users. */
export interface MeasuredStep {
  name: string;
  seconds: number;
  requests: RequestResult;
  /** Beyond the share of the control run. */
  numFailed: number;
  /** Those of the failures that the step does not excuse. */
  unexcused: FailedRequest[];
  streams: StreamResult;
  numPlayed: number;
  /** What was promised and not kept; empty: reached. */
  problems: string[];
}

export interface MeasuredRun {
  steps: MeasuredStep[];
  games: { played: number; acknowledged: number; violations: Violation[] };
}

const [control] = steps;
const maxControls = 5;
/** Longest p99 of the way back of a stream that a step has cut. */
const maxBackMs = 6_000;

/** Takes two instances behind these balancers, which share the load, through all steps. */
export async function measureRolling(
  balancers: readonly BalancerName[],
  sizes: RollingSizes,
  times: RollingTimes,
): Promise<MeasuredRun> {
  const release = unpackRelease(lastRelease());
  const removal = atDeath('rm -rf "$1"', release);
  try {
    return await withWorld(balancers, sizes, (world) => measureSteps(world, times, release));
  } finally {
    await removal.now();
  }
}

async function measureSteps(
  world: World,
  times: RollingTimes,
  release: string,
): Promise<MeasuredRun> {
  const { requests, followers, games, stores } = world;
  const measured: MeasuredStep[] = [];
  await pause(times.settle);
  await requests.take();
  followers.take();
  for (const step of steps) {
    const measure = () => measureStep(step, world, times, release, measured[0]);
    const one = await (step === control ? quietly(measure) : measure());
    measured.push(one);
    note(`${one.name}: ${one.problems.length === 0 ? "reached" : one.problems.join(", ")}`);
    for (const what of countFailures(one.unexcused)) note(`  ${what}`);
  }
  const violations = await games.finish(stores.databaseUrl);
  for (const { kind, text } of violations) note(`${kind}: ${text}`);
  const { numPlayed: played, numAcknowledged: acknowledged } = games;
  return { steps: measured, games: { played, acknowledged, violations } };
}

/** What fails without any step says nothing about one, so the control waits for a machine that has time. */
async function quietly(measure: () => Promise<MeasuredStep>): Promise<MeasuredStep> {
  for (let attempt = 1; ; attempt++) {
    const one = await measure();
    if (one.problems.length === 0) return one;
    const what = `${one.problems.join(", ")} of ${one.requests.sent} requests without any step`;
    if (attempt === maxControls) throw new Error(`${what}: this machine is too busy`);
    note(`${what}, once more`);
  }
}

async function measureStep(
  step: Step,
  world: World,
  times: RollingTimes,
  release: string,
  control: MeasuredStep | undefined,
): Promise<MeasuredStep> {
  const { requests, followers, games } = world;
  const startedAt = performance.now();
  const playedBefore = games.numPlayed;
  await step.fault?.(world);
  const fault = { from: startedAt, to: performance.now() };
  await step.run(world, times, release);
  await pause(times.settle);
  await untilFollowed(followers);
  const result = await requests.take();
  const excused = (failure: FailedRequest) => step.excuses?.(failure, fault, world) === true;
  const unexcused = result.failures.filter((failure) => !excused(failure));
  const streams = followers.take();
  const numUnexcused = beyondControl(unexcused.length, result, control);
  return {
    name: step.name,
    seconds: (performance.now() - startedAt) / 1_000,
    requests: result,
    numFailed: beyondControl(result.failures.length, result, control),
    unexcused,
    streams,
    numPlayed: games.numPlayed - playedBefore,
    problems: problemsOf(numUnexcused, streams),
  };
}

/** Failures that the control run does not explain. */
function beyondControl(
  failures: number,
  { sent }: RequestResult,
  control: MeasuredStep | undefined,
): number {
  if (control === undefined || control.requests.sent === 0) return failures;
  const share = control.requests.failures.length / control.requests.sent;
  return Math.max(0, Math.round(failures - share * sent));
}

function problemsOf(numFailed: number, streams: StreamResult): string[] {
  const { missed, doubled, gaps, cuts, back } = streams;
  return [
    ...(numFailed > 0 ? [`${numFailed} failed`] : []),
    ...(missed + doubled > 0 ? [`${missed + doubled} events missed or duplicated`] : []),
    ...(gaps > 0 ? [`${gaps} gaps`] : []),
    ...(cuts > 0 && percentileOrMax(back, 99) > maxBackMs ? ["streams late"] : []),
  ];
}

/** How often each failed, such as "12 POST /v1/gateway/guest 503 server:unavailable". */
export function countFailures(failures: readonly FailedRequest[]): string[] {
  const counts = new Map<string, number>();
  for (const { asked, code } of failures) {
    const what = `${asked.method} ${asked.path.replace(/lobbies\/\w+/, "lobbies/{code}")} ${code}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} ${what}`);
}
