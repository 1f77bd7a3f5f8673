import { printTable } from "../report.ts";
import type { Summary } from "../load/histogram.ts";
import { describeValue } from "./budgets.ts";
import { describeFault } from "./faults.ts";
import type { Leftover, Operation, Report } from "./schema.ts";

const shown = ["50", "90", "99", "99.9"];
const milliseconds = (value: number | null | undefined) => (value == null ? "" : value.toFixed(1));
const times = (summary: Summary | null) =>
  shown.map((percent) => milliseconds(summary?.percentiles[percent]));

/** The report in short, as Markdown. */
export function printReport(report: Report, files: { json: string; html: string }): void {
  const { run, arrivals, requests } = report;
  const operations = [...report.operations, ...controlsOf(report)];
  if (operations.length > 0)
    printTable({
      title: `${report.scenario}: ${run.load}, seed ${run.seed}; times in ms from the intended start, service times from the send, without late ones`,
      head: [
        ...["operation", "per second", "count", "failed", "429"],
        ...shown.map((percent) => `p${percent}`),
        ...["max", "service p50", "p90", "p99", "p99.9"],
      ],
      rows: operations.map(({ name, perSecond, count, failed, limited, response, service }) => [
        ...[name, perSecond.toFixed(1), ...[count, failed, limited].map(String)],
        ...[...times(response), milliseconds(response.maxMs), ...times(service)],
      ]),
    });
  const lines = [
    `${arrivals.sent} arrivals, ${arrivals.late} sent late, ${arrivals.dropped} dropped, ${arrivals.unfinished} unfinished; ${requests.lostConnections} connections lost; ${requests.direct ? `${requests.direct} requests to the owner of a lobby; ` : ""}${countsText("repeated", requests.repeated)}`,
    ...Object.entries(requests.limited).map(([what, count]) => `429 ${count} times: ${what}`),
    ...report.errors.map(
      ({ operation, status, code, count, samples }) =>
        `${count} x ${operation}: ${status} ${code}, as ${samples[0]?.requestId ?? "no request"}`,
    ),
    ...report.violations.map(
      ({ kind, text, bot, requestId }) =>
        `VIOLATION ${kind}: ${text} (${bot}, request ${requestId})`,
    ),
    ...report.faults.map(describeFault),
    ...describeNeighbours(report),
    ...report.generatorLimits,
    ...Object.entries(report.leaves).map(([what, count]) => `left at the target: ${count} ${what}`),
    ...(report.leftovers ?? []).map(describeLeftover),
    ...report.budgets.map((one) => `${one.outcome}: ${one.text} (${describeValue(one)})`),
    `${run.seconds.toFixed(0)} s of load and ${(run.besidesSeconds ?? 0).toFixed(0)} s besides`,
    `${report.verdict} Exit code ${report.exitCode}. ${files.html}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** The floor and the peers, shown beside the operations of the target. */
export const controlsOf = ({ floor, peers = [] }: Report): Operation[] => [
  ...(floor ? [floor] : []),
  ...peers,
];

/** Who else used the machine, also processes that have ended before the load. */
export const describeNeighbours = ({ machine }: Report): string[] => [
  ...(machine.loadBefore > machine.cores
    ? [`busy before the run: load ${machine.loadBefore.toFixed(1)} on ${machine.cores} cores`]
    : []),
  ...machine.neighbours.map((name) => `beside the run: ${name}`),
];

/** "rooms: 0 before, 0 after 1.2 s" */
export const describeLeftover = ({ name, before, after, backAfter }: Leftover): string =>
  `${name}: ${before} before, ${after} after ${backAfter === null ? "two minutes" : `${backAfter.toFixed(1)} s`}`;

function countsText(what: string, counts: Readonly<Record<string, number>>): string {
  const all = Object.entries(counts).map(([name, count]) => `${count} after ${name}`);
  return `${what} ${all.length === 0 ? "none" : all.join(", ")}`;
}
