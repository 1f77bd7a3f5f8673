import type { World, Worker } from "./world.ts";
import { lobbyKey } from "../support/lobby-keys.ts";

/** A fault at one step of a schedule. */
export interface Fault {
  step: number;
  inject(world: World): void;
}

type Injection = (world: World) => void;

const injections: readonly [weight: number, inject: Injection][] = [
  [6, kill],
  [4, freeze],
  [3, stall],
  [2, cut],
  [2, leave],
  [2, join],
  [2, restartStore],
  [2, restartAtCommit],
  [1, stepClock],
];
const weighted = injections.flatMap(([weight, inject]) =>
  Array.from({ length: weight }, () => inject),
);

/** Chooses the faults of this schedule and their steps. */
export function planFaults(world: World): Fault[] {
  const { random, net, kind } = world;
  if (random.is(kind.messageFaults)) net.messages = { lost: 0.05, doubled: 0.05, late: 0.05 };
  const count = random.is(kind.faultless) ? 0 : random.pick(kind.faults);
  const faults = Array.from({ length: count }, () => ({
    step: random.between(1, kind.lastStep),
    inject: random.pick(weighted),
  }));
  if (faults.some(({ inject }) => inject === restartStore || inject === restartAtCommit))
    world.redis.keepJournal(() => world.timeline.now);
  return faults
    .sort((a, b) => a.step - b.step)
    .map(({ step, inject }) => ({
      step,
      inject(target) {
        target.injected += 1;
        inject(target);
      },
    }));
}

/** All connections are back this long after Redis is reachable. */
const reconnectMs = 600;

/** A running worker, if any. */
function pickWorker({ random, workers }: World): Worker {
  const alive = workers.filter((worker) => worker.isAlive);
  return random.pick(alive.length > 0 ? alive : workers);
}

function kill(world: World): void {
  world.kill(pickWorker(world), world.random.is(0.6));
}

function freeze(world: World): void {
  const { random, kind } = world;
  const worker = pickWorker(world);
  const ms = random.within(random.pick(kind.freezeMs));
  world.note?.(`${worker.name} freezes for ${ms} ms`);
  // Never shorter than before: messages that wait for the thaw must not be overtaken.
  world.trouble(ms);
  worker.frozenUntil = Math.max(worker.frozenUntil, world.timeline.now + ms);
}

function stall(world: World): void {
  const { random, kind } = world;
  const worker = pickWorker(world);
  const which = random.pick(["commits", "control", "control", "both"] as const);
  const ms = random.within(random.pick(kind.freezeMs));
  world.note?.(`${worker.name} is cut off from the store for ${ms} ms (${which})`);
  world.trouble(ms);
  worker.wiring.stall(which, ms);
}

function cut(world: World): void {
  const worker = pickWorker(world);
  world.note?.(`${worker.name} loses its connections`);
  world.trouble(reconnectMs);
  worker.wiring.cut(world.random.is(0.5));
}

function leave(world: World): void {
  const worker = pickWorker(world);
  if (worker.isAlive && !worker.isLeaving) world.leave(worker);
}

function join(world: World): void {
  if (world.ready().length < 4) world.startWorker();
}

/**
 * Redis crashes or stops in order, and restarts, possibly without its last second. Not again before all workers are
 * connected: one that is away during two losses cannot tell that another one owned its shards between them.
 */
function restartStore(world: World): void {
  const { random, kind, net, redis } = world;
  if (!net.isUp || world.timeline.now < world.reconnectedAt) return;
  const ms = random.within(random.pick(kind.storeDownMs));
  const isOrderly = random.is(0.2);
  const lostMs = !isOrderly && random.is(0.5) ? random.between(1, 1_000) : 0;
  world.note?.(`store    ${isOrderly ? "ends" : "dies"} for ${ms} ms, loses ${lostMs} ms`);
  world.trouble(ms + reconnectMs);
  world.reconnectedAt = world.timeline.now + ms + reconnectMs;
  net.isUp = false;
  for (const worker of world.workers) if (worker.isAlive) worker.wiring.cut(false);
  redis.restart(isOrderly);
  if (!isOrderly) world.mayHaveLost = true;
  if (lostMs > 0) lose(world, lostMs);
  world.after(ms, () => {
    net.isUp = true;
    world.note?.("store    is back");
  });
}

/** As soon as it has stored the next commit, whose reply nobody gets. */
function restartAtCommit(world: World): void {
  world.afterCommit = () => restartStore(world);
}

function lose(world: World, ms: number): void {
  world.hasLost = true;
  world.redis.loseAfter(world.timeline.now - ms);
  for (const [code, ledger] of world.ledgers) {
    const stamp = world.redis.hget(lobbyKey(code), "v") ?? "0";
    world.guard(() => ledger.rollBack(Number.parseInt(stamp, 10)));
  }
}

function stepClock(world: World): void {
  const { random } = world;
  const ms = random.pick([40, 400, 3_000, 3_600_000]) * random.pick([-1, 1]);
  world.note?.(`clocks   step by ${ms} ms`);
  world.wallOffset += ms;
  if (ms < 0) world.setBackMs -= ms;
  if (Math.abs(ms) > 100) world.clockJumpedAt = world.timeline.now;
}
