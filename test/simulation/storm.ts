import type { World } from "./world.ts";

/** Something bad that happens at one step of a schedule. */
export interface Fault {
  step: number;
  strike(world: World): void;
}

/** Steps among which faults are spread: about what the clients of a schedule need. */
const lastStep = 250;

type Strike = (world: World) => void;

const strikes: readonly [weight: number, strike: Strike][] = [
  [6, kill],
  [3, freeze],
  [2, cut],
  [2, leave],
  [2, join],
  [2, restartStore],
  [1, stepClock],
];
const weighted = strikes.flatMap(([weight, strike]) =>
  Array.from({ length: weight }, () => strike),
);

/** Chooses what goes wrong in this schedule, and at which steps. */
export function planFaults(world: World): Fault[] {
  const { chance, net } = world;
  if (chance.is(0.4)) net.messages = { lost: 0.05, doubled: 0.05, late: 0.05 };
  world.redis.keepJournal(() => world.timeline.now);
  const count = chance.is(0.1) ? 0 : chance.between(1, 4);
  const faults = Array.from({ length: count }, () => ({
    step: chance.between(10, lastStep),
    strike: chance.pick(weighted),
  }));
  return faults
    .sort((a, b) => a.step - b.step)
    .map(({ step, strike }) => ({
      step,
      strike(struck) {
        struck.injected += 1;
        strike(struck);
      },
    }));
}

function kill(world: World): void {
  const { chance } = world;
  const worker = chance.pick(world.workers);
  world.kill(worker, chance.is(0.6));
}

function freeze(world: World): void {
  const { chance } = world;
  const worker = chance.pick(world.workers);
  world.freeze(worker, chance.is(0.5) ? chance.between(5, 600) : chance.between(700, 2_500));
}

function cut(world: World): void {
  world.cut(world.chance.pick(world.workers));
}

function leave(world: World): void {
  const worker = world.chance.pick(world.workers);
  if (worker.isAlive && !worker.isLeaving) world.leave(worker);
}

function join(world: World): void {
  if (world.ready().length < 4) world.startWorker();
}

function restartStore(world: World): void {
  const { chance } = world;
  if (!world.net.isUp) return;
  const downMs = chance.is(0.5) ? chance.between(1, 40) : chance.between(60, 1_500);
  world.restartStore(downMs, chance.is(0.5) ? chance.between(1, 1_000) : 0);
}

function stepClock(world: World): void {
  const { chance } = world;
  const ms = chance.pick([40, 400, 3_000, 3_600_000]) * chance.pick([-1, 1]);
  world.stepClock(ms);
}
