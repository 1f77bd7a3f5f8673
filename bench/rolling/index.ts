import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { lastRelease, unpackRelease } from "../../test/support/releases.ts";
import { note, type Table } from "../report.ts";
import type { RollingSizes, Scenario, Scenarios } from "../floor-scenario.ts";
import type { BalancerName } from "./balancer.ts";
import type { RollingInstance } from "./instances.ts";
import type { RequestResult } from "./requests.ts";
import type { StreamResult } from "./followers.ts";
import { untilFollowed, withWorld, type World } from "./world.ts";

/** After each step, so that the next one begins with everything in its place. */
const settleMs = 5_000;
/** Longest p99 of the way back of a stream that an orderly step has cut. */
const maxBackMs = 6_000;
const linkDownMs = 30_000;
const postgresAwayMs = 12_000;
const redisAwayMs = 10_000;

interface Step {
  name: string;
  /** Done by a person in order: no request may fail, and no event be missed. */
  isPlanned: boolean;
  run(world: World, sizes: RollingSizes, release: string): Promise<void>;
}

const steps: readonly Step[] = [
  { name: "nothing (control)", isPlanned: true, run: (_, { seconds }) => pause(seconds * 1_000) },
  {
    name: "SIGTERM and start of each instance",
    isPlanned: true,
    run: ({ instances }) => eachOf(instances, (instance) => restart(instance)),
  },
  {
    name: "drain of each worker",
    isPlanned: true,
    run: ({ instances }) => eachOf(instances, (instance) => instance.drainWorkers()),
  },
  {
    name: "back to the last release",
    isPlanned: true,
    run: ({ instances }, _, release) => eachOf(instances, (instance) => restart(instance, release)),
  },
  {
    name: "upgrade from the last release",
    isPlanned: true,
    run: ({ instances }) => eachOf(instances, (instance) => restart(instance)),
  },
  {
    name: "link of one host down for 30 s",
    isPlanned: false,
    async run({ instances: [one] }) {
      one.host.setLink(false);
      await pause(linkDownMs);
      one.host.setLink(true);
    },
  },
  {
    name: "kill -9 of one instance",
    isPlanned: false,
    async run({ instances: [, two] }) {
      await two.kill();
      await pause(settleMs);
      await two.start();
    },
  },
  {
    name: "Postgres away for 12 s",
    isPlanned: false,
    run: ({ stores }) => awayFor(stores.postgres, postgresAwayMs),
  },
  {
    name: "Redis stopped in order for 10 s",
    isPlanned: false,
    run: ({ stores }) => awayFor(stores.redis, redisAwayMs),
  },
];

interface Measured extends Pick<Step, "name" | "isPlanned"> {
  requests: RequestResult;
  streams: StreamResult;
  seconds: number;
  numPlayed: number;
}

export const scenarios: Scenarios = { nginx: behind("nginx"), haproxy: behind("HAProxy") };

function behind(balancer: BalancerName): Scenario {
  return {
    about: `two instances in network namespaces behind ${balancer}: restarts, drains, upgrades, faults`,
    async run({ rolling: sizes }) {
      const release = unpackRelease(lastRelease());
      try {
        return await withWorld(balancer, sizes, (world) =>
          measureAll(balancer, world, sizes, release),
        );
      } finally {
        rmSync(release, { recursive: true, force: true });
      }
    },
  };
}

async function measureAll(
  balancer: BalancerName,
  world: World,
  sizes: RollingSizes,
  release: string,
): Promise<Table[]> {
  const measured: Measured[] = [];
  const { requests, followers, games, stores } = world;
  await pause(settleMs);
  await requests.take();
  followers.take();
  for (const { name, isPlanned, run } of steps) {
    const startedAt = performance.now();
    const playedBefore = games.numPlayed;
    await run(world, sizes, release);
    await pause(settleMs);
    await untilFollowed(followers);
    const one = {
      ...{ name, isPlanned },
      requests: await requests.take(),
      streams: followers.take(),
      seconds: (performance.now() - startedAt) / 1_000,
      numPlayed: games.numPlayed - playedBefore,
    };
    measured.push(one);
    note(rowOf(one, measured[0]).join(" | "));
  }
  const { lost, doubled, gaps, differing, surprises, findings } = await games.finish(
    stores.databaseUrl,
  );
  for (const finding of findings) note(finding);
  const sizesText = `${sizes.perSecond} requests/s without retries, half on fresh connections, ${sizes.streams} streams, ${sizes.games} games`;
  return [
    {
      title: `rolling: two instances of two HTTP workers behind ${balancer}, ${sizesText}; failed: beyond the share of the control`,
      head: [
        "step",
        "s",
        "requests",
        "failed",
        "p99 ms",
        "streams cut",
        "back p50/p99/max s",
        "missed/duplicated/gaps",
        "games",
        "verdict",
      ],
      rows: measured.map((one) => rowOf(one, measured[0])),
    },
    {
      title: `rolling: games behind ${balancer}, acknowledged commands against messages, final lobby and database`,
      head: ["games", "acknowledged", "lost", "duplicated", "gaps", "differing", "surprises"],
      rows: [
        [games.numPlayed, games.numAcknowledged, lost, doubled, gaps, differing, surprises].map(
          String,
        ),
      ],
    },
  ];
}

function rowOf(one: Measured, control: Measured | undefined): string[] {
  const { name, requests, streams, seconds, numPlayed } = one;
  const { missed, doubled, gaps, cuts, back } = streams;
  const failed = failuresBeyond(requests, control === one ? undefined : control?.requests);
  const codes = [...requests.failures].map(([code, count]) => `${count} ${code}`).join(", ");
  const inSeconds = (ms: number) => (ms / 1_000).toFixed(1);
  return [
    ...[name, seconds.toFixed(0), String(requests.sent)],
    codes === "" ? "0" : `${failed} (${codes})`,
    requests.latency.p99Ms.toFixed(0),
    String(cuts),
    cuts === 0 ? "" : [back.p50Ms, back.p99Ms, back.maxMs].map(inSeconds).join(" / "),
    `${missed}/${doubled}/${gaps}`,
    String(numPlayed),
    verdictOf(one, failed),
  ];
}

function verdictOf({ isPlanned, streams }: Measured, failed: number): string {
  if (!isPlanned) return "";
  const { missed, doubled, gaps, cuts, back } = streams;
  const problems = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(missed + doubled + gaps > 0 ? ["events"] : []),
    ...(cuts > 0 && back.p99Ms > maxBackMs ? ["streams late"] : []),
  ];
  return problems.length === 0 ? "reached" : `missed: ${problems.join(", ")}`;
}

/** Failures that the control run does not explain. */
function failuresBeyond(requests: RequestResult, control: RequestResult | undefined): number {
  const count = ({ failures }: RequestResult) => [...failures.values()].reduce((a, b) => a + b, 0);
  const share = control === undefined || control.sent === 0 ? 0 : count(control) / control.sent;
  return Math.max(0, Math.round(count(requests) - share * requests.sent));
}

async function eachOf(
  instances: readonly RollingInstance[],
  work: (instance: RollingInstance) => Promise<void>,
): Promise<void> {
  for (const instance of instances) {
    await work(instance);
    // The balancer has to notice that it is back.
    await pause(settleMs);
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
