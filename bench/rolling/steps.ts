import { setTimeout as pause } from "node:timers/promises";
import { lastRelease } from "../../test/support/releases.ts";
import type { RollingInstance } from "./instances.ts";
import type { FailedRequest } from "./requests.ts";
import type { World } from "./world.ts";

/** Times of the steps, in milliseconds. */
export interface RollingTimes {
  /** Length of the control run. */
  control: number;
  /** After each step, so that the next one begins with everything in its place. */
  settle: number;
  linkDown: number;
  postgresAway: number;
  redisAway: number;
}

/** When a fault began and when it was complete, in milliseconds of `performance.now()`. */
export interface FaultTime {
  from: number;
  to: number;
}

export interface Step {
  name: string;
  /** What happens at once, before `run`. */
  fault?(world: World): Promise<void> | void;
  run(world: World, times: RollingTimes, release: string): Promise<void>;
  /** Whether a request may fail so; absent: none may, as in everything that is done in order. */
  excuses?(failure: FailedRequest, fault: FaultTime, world: World): boolean;
}

/** How long a command waits for the owner of its room, before it is refused (LOB-27). */
const commandWaitMs = 5_000;
/** An answer that was on its way when the fault was complete comes within this. */
const lastMs = 100;

const isInFlight = ({ sentAt, failedAt }: FailedRequest, { from, to }: FaultTime) =>
  sentAt < to + lastMs && failedAt > from;

/**
 * Release 0.1.0 closes its port as soon as it gets SIGTERM, and Linux resets the connections that wait to be accepted. No
 * balancer repeats a POST that it has sent: nginx answers 502, HAProxy closes the kept connection of the client.
 */
const portClosesMs = 1_000;

function isReset(failure: FailedRequest, { instances }: World): boolean {
  if (lastRelease().version !== "0.1.0" || !/^(502|ECONNRESET)/.test(failure.code)) return false;
  return instances.some(({ signalledAt }) =>
    isInFlight(failure, { from: signalledAt, to: signalledAt + portClosesMs }),
  );
}

export const steps: readonly Step[] = [
  { name: "nothing (control)", run: (_, { control }) => pause(control) },
  {
    name: "SIGTERM and start of each instance",
    run: ({ instances }, times) => eachOf(instances, times, restart),
  },
  {
    name: "drain of each worker",
    run: ({ instances }, times) => eachOf(instances, times, (one) => one.drainWorkers()),
  },
  {
    name: "back to the last release",
    run: ({ instances }, times, release) =>
      eachOf(instances, times, (instance) => restart(instance, release)),
  },
  {
    name: "upgrade from the last release",
    excuses: (failure, _, world) => isReset(failure, world),
    run: ({ instances }, times) => eachOf(instances, times, restart),
  },
  {
    name: "link of one host down",
    excuses: isInFlight,
    fault: ({ instances: [one] }) => one.host.setLink(false),
    async run({ instances: [one] }, { linkDown }) {
      await pause(linkDown);
      one.host.setLink(true);
    },
  },
  {
    name: "kill -9 of one instance",
    excuses: isInFlight,
    // The first one has the streams, since the second one was the last to be restarted.
    fault: ({ instances: [one] }) => one.host.killAll(),
    async run({ instances: [one] }, { settle }) {
      await one.end();
      await pause(settle);
      await one.start();
    },
  },
  {
    name: "Postgres away",
    excuses: ({ asked, code }) => asked.needsPostgres === true && code.startsWith("503 "),
    run: ({ stores }, { postgresAway }) => awayFor(stores.postgres, postgresAway),
  },
  {
    name: "Redis stopped in order",
    excuses: ({ sentAt, failedAt, code }) =>
      code.startsWith("503 ") && failedAt - sentAt >= commandWaitMs,
    run: ({ stores }, { redisAway }) => awayFor(stores.redis, redisAway),
  },
];

async function eachOf(
  instances: readonly RollingInstance[],
  { settle }: RollingTimes,
  work: (instance: RollingInstance) => Promise<void>,
): Promise<void> {
  for (const instance of instances) {
    await work(instance);
    // The balancer has to notice that it is back.
    await pause(settle);
  }
}

async function restart(instance: RollingInstance, root?: string): Promise<void> {
  await instance.stop();
  await instance.start(root);
}

async function awayFor(
  store: { stop(): Promise<void>; start(): Promise<void> },
  ms: number,
): Promise<void> {
  await store.stop();
  await pause(ms);
  await store.start();
}
