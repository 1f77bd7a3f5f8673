import type { RollingSizes, Scenario, Scenarios } from "../floor-scenario.ts";
import { percentileOrMax } from "../load/histogram.ts";
import type { Table } from "../report.ts";
import type { BalancerName } from "./balancer.ts";
import { countFailures, measureRolling, type MeasuredRun, type MeasuredStep } from "./measure.ts";
import { measureScale } from "./scale.ts";
import type { RollingTimes } from "./steps.ts";

const times: Omit<RollingTimes, "control"> = {
  settle: 5_000,
  linkDown: 30_000,
  postgresAway: 12_000,
  redisAway: 10_000,
};

export const scenarios: Scenarios = {
  nginx: behind("nginx"),
  haproxy: behind("HAProxy"),
  scale: {
    about: "commands/s of one, two and three instances, each with a share of a core",
    run: ({ rolling: { seconds } }) => measureScale(seconds),
  },
};

function behind(balancer: BalancerName): Scenario {
  return {
    about: `two instances in network namespaces behind ${balancer}: restarts, drains, upgrades, faults`,
    async run({ rolling: sizes }) {
      const all = { ...times, control: sizes.seconds * 1_000 };
      return tablesOf(balancer, sizes, await measureRolling([balancer], sizes, all));
    },
  };
}

function tablesOf(balancer: BalancerName, sizes: RollingSizes, run: MeasuredRun): Table[] {
  const { perSecond, streams, games } = sizes;
  const sizesText = `${perSecond} requests/s without retries, half on fresh connections, ${streams} streams, ${games} games`;
  const { played, acknowledged, violations } = run.games;
  const kinds = [...new Set(violations.map(({ kind }) => kind))].join(", ");
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
      ].concat(["missed/duplicated/gaps", "games", "verdict"]),
      rows: run.steps.map(rowOf),
    },
    {
      title: `rolling: requests that failed behind ${balancer}`,
      head: ["step", "failed", "which the step does not explain"],
      rows: run.steps
        .filter(({ requests }) => requests.failures.length > 0)
        .map(({ name, requests, unexcused }) => [
          name,
          countFailures(requests.failures).join("; "),
          countFailures(unexcused).join("; "),
        ]),
    },
    {
      title: `rolling: games behind ${balancer}, acknowledged choices against events, scores and database`,
      head: ["games", "acknowledged choices", "broken promises", "kinds"],
      rows: [[...[played, acknowledged, violations.length].map(String), kinds]],
    },
  ];
}

function rowOf(step: MeasuredStep): string[] {
  const { name, seconds, requests, numFailed, streams, numPlayed, problems } = step;
  const { missed, doubled, gaps, cuts, back } = streams;
  const inSeconds = (ms: number) => (ms / 1_000).toFixed(1);
  return [
    ...[name, seconds.toFixed(0), String(requests.sent), String(numFailed)],
    ...[percentileOrMax(requests.latency, 99).toFixed(0), String(cuts)],
    cuts === 0
      ? ""
      : [percentileOrMax(back, 50), percentileOrMax(back, 99), back.maxMs]
          .map(inSeconds)
          .join(" / "),
    ...[`${missed}/${doubled}/${gaps}`, String(numPlayed)],
    problems.length === 0 ? "reached" : `missed: ${problems.join(", ")}`,
  ];
}
