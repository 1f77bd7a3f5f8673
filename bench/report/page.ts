import { join } from "node:path";
import { buildSync } from "esbuild";
import { describeValue } from "./budgets.ts";
import { lateMs } from "../load/health.ts";
import { reportedPercentiles, type Summary } from "../load/histogram.ts";
import { pageCharts, type PageCharts } from "./charts.ts";
import { asPage, type Document, type Section } from "./document.ts";
import { describeFault } from "./faults.ts";
import type { Report } from "./schema.ts";

/** The report as one HTML file that loads nothing else. */
export function reportPage(report: Report): string {
  const data = JSON.stringify(pageCharts(report)).replaceAll("<", "\\u003c");
  const scripts = `<script type="application/json" id="data">${data}</script>\n<script>${script()}</script>`;
  return asPage({ ...documentOf(report), sections: sectionsOf(report) }, scripts);
}

/** What decides comes first, since a page is read from its top. */
const sectionsOf = (report: Report): Section[] => [
  ...[budgets(report), remarks(report), violations(report), errors(report)],
  ...(report.seconds.length === 0 ? [] : measured(report)),
  ...[requests(report), run(report)],
];

/** A report for a terminal, which shows the end of it. */
export const documentOf = (report: Report): Document => ({
  title: report.scenario,
  verdict: report.verdict,
  exitCode: report.exitCode,
  about: `${report.about}; ${report.run.load}, seed ${report.run.seed}, ${report.status}`,
  sections: sectionsOf(report).toReversed(),
});

/** What a run that failed before its load does not have. */
const measured = (report: Report): Section[] => [
  ...[operations(report), generators(report)],
  { title: "On one time axis", id: "time", lines: bandsOf(pageCharts(report)) },
  { title: "Percentiles", id: "percentiles" },
];

function bandsOf({ bands }: PageCharts): string[] {
  const named = (colour: string, isFault: boolean) => {
    const names = new Set(bands.filter((one) => one.isFault === isFault).map(({ name }) => name));
    return names.size === 0 ? [] : [`${colour} bands: ${[...names].join(", ")}.`];
  };
  return bands.length === 0 ? [] : [[...named("Red", true), ...named("Grey", false)].join(" ")];
}

const milliseconds = (value: number | null | undefined): string =>
  value == null ? "" : value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);

const listOf = (counts: Readonly<Record<string, number>>, of: string): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count}${of}${name}`)
    .join(", ") || "none";

const budgets = ({ budgets: all }: Report): Section => ({
  title: "Budgets",
  head: ["budget", "measured", "outcome"],
  rows: all.map((one) => [one.text, describeValue(one), one.outcome]),
});

const remarks = ({
  problems,
  generatorLimits,
  faults,
  machine,
  requests: sent,
}: Report): Section => ({
  title: "Remarks",
  lines: [
    ...problems,
    ...generatorLimits,
    ...(Object.keys(sent.limited).length > 0
      ? [
          "the limits of the target refused requests: there may be fewer players than the scenario names",
        ]
      : []),
    ...(machine.loadBefore > machine.cores
      ? [`busy before the run: load ${machine.loadBefore.toFixed(1)} on ${machine.cores} cores`]
      : []),
    ...machine.neighbours.map((name) => `beside the run: ${name}`),
    ...faults.map(describeFault),
  ],
});

function operations(report: Report): Section {
  const times = ({ percentiles, maxMs }: Summary) => [
    ...reportedPercentiles.map((percent) => milliseconds(percentiles[String(percent)])),
    milliseconds(maxMs),
  ];
  const { floor, peers = [] } = report;
  const all = [...report.operations, ...(floor ? [floor] : []), ...peers];
  const head = ["operation", "time", "per second", "count", "failed", "429"];
  return {
    title: "Operations",
    head: [...head, ...reportedPercentiles.map((percent) => `p${percent}`), "max"],
    rows: all.flatMap(({ name, perSecond, count, failed, limited, response, service }) => {
      const counts = [perSecond.toFixed(1), ...[count, failed, limited].map(String)];
      const first = [name, "response", ...counts, ...times(response)];
      if (service === null) return [first];
      return [first, ["", "service", "", String(service.count), "", "", ...times(service)]];
    }),
    lines: [
      "milliseconds; response time counts from the intended start, service time from the send, and only what a generator in good order sent in time",
      "a percentile with fewer than 10 samples beyond it is left out",
      "the floor is the simplest request to a raw server on this machine; a peer is another server under the same load",
    ],
  };
}

const violations = ({ violations: all, numViolations }: Report): Section => ({
  title: `${numViolations} broken promises`,
  head: ["kind", "what", "bot", "X-Request-Id"],
  rows: all.map(({ kind, text, bot, requestId }) => [kind, text, bot, requestId ?? ""]),
});

const errors = ({ errors: all }: Report): Section => ({
  title: "Errors",
  head: ["operation", "code", "count", "message", "X-Request-Id"],
  rows: all.map(({ operation, status, code, count, samples }) => [
    ...[operation, `${status} ${code}`, String(count), samples[0]?.message ?? ""],
    samples.map(({ requestId, at }) => `${requestId ?? "none"} at ${at.toFixed(1)} s`).join(", "),
  ]),
});

const requests = ({ requests: counts, leaves, leftovers = [] }: Report): Section => ({
  title: "Requests",
  lines: [
    `${counts.sent} sent, ${counts.direct ?? 0} of them to the owner of a lobby`,
    `repeated by the client: ${listOf(counts.repeated, " after ")}`,
    `${counts.connections} connections, ${counts.lostConnections} lost`,
    `answered with 429, by setting: ${listOf(counts.limited, " x ")}`,
    `left at the target: ${listOf(leaves, " ")}`,
    ...leftovers.map(
      ({ name, before, after, backAfter }) =>
        `${name}: ${before} before, ${after} after ${backAfter === null ? "two minutes" : `${backAfter.toFixed(1)} s`}`,
    ),
  ],
});

function generators({ generators: all, arrivals, run: { seconds } }: Report): Section {
  const { sent, late, dropped, unfinished, lateness } = arrivals;
  const [p50, p99] = ["50", "99"].map((percent) => milliseconds(lateness.percentiles[percent]));
  return {
    title: "Generators",
    head: ["process", "stalls", "stalled ms", "of a core", "peak MiB"],
    rows: all.map(({ numStalls, stalledMs, cpuSeconds, peakMib }, index) => [
      ...[String(index), String(numStalls), milliseconds(stalledMs)],
      ...[`${((cpuSeconds / seconds) * 100).toFixed(0)} %`, peakMib.toFixed(0)],
    ]),
    lines: [
      `${sent} arrivals, ${late} sent more than ${lateMs} ms late, ${dropped} dropped, ${unfinished} unfinished`,
      `lateness p50 ${p50} ms, p99 ${p99} ms, max ${milliseconds(lateness.maxMs)} ms`,
    ],
  };
}

function run({ run: one, target, machine }: Report): Section {
  const settings = Object.entries(target.settings).map(([name, value]) => `${name}=${value}`);
  const { cores, cpu, memoryMib, system, node, loadBefore, loadAfter } = machine;
  return {
    title: "Run",
    lines: [
      one.command,
      `${target.isOwn ? "commit" : "commit of the bench"} ${one.commit ?? "unknown"}${one.isDirty ? " with changes" : ""}, seed ${one.seed}, started ${one.startedAt}`,
      `${one.seconds.toFixed(0)} s of load and ${(one.besidesSeconds ?? 0).toFixed(0)} s besides`,
      target.isOwn ? `an own instance ${settings.join(" ")}` : target.url,
      `${cores} x ${cpu}, ${memoryMib} MiB, ${system}, Node ${node}`,
      `load of the machine ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`,
    ],
  };
}

let bundled: string | null = null;

function script(): string {
  bundled ??= new TextDecoder().decode(
    buildSync({
      entryPoints: [join(import.meta.dirname, "page/draw.ts")],
      ...{ bundle: true, minify: true, write: false, format: "iife", target: "es2022" },
      legalComments: "none",
    }).outputFiles[0]?.contents,
  );
  return bundled.replaceAll("</script", "<\\/script");
}
