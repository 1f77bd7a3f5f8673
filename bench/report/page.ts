import { join } from "node:path";
import { buildSync } from "esbuild";
import { reportedPercentiles, type Summary } from "../load/histogram.ts";
import { describeValue } from "./budgets.ts";
import { pageCharts, type PageCharts } from "./charts.ts";
import { escape, facts, section, styles, table } from "./html.ts";
import { describeFault } from "./faults.ts";
import { controlsOf, describeLeftover, describeNeighbours } from "./text.ts";
import type { Report } from "./schema.ts";

const folder = join(import.meta.dirname, "page");

/** The report as one HTML file that loads nothing else. */
export function reportPage(report: Report): string {
  const charts = pageCharts(report);
  const data = JSON.stringify(charts).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(report.scenario)}: ${escape(report.verdict)}</title>
<style>${styles()}</style>
</head>
<body>
<header class="${report.exitCode === 0 ? "passed" : "failed"}">
<h1>${escape(report.scenario)}</h1>
<p class="verdict">${escape(report.verdict)}</p>
<p>${escape(report.about)}: ${escape(report.run.load)}. Run ${report.status}, exit code ${report.exitCode}.</p>
</header>
<main>
${[
  budgets(report),
  problems(report),
  ...(report.seconds.length === 0 ? [] : measured(report, charts)),
  violations(report),
  errors(report),
  requests(report),
  generators(report),
  runFacts(report),
].join("\n")}
</main>
<script type="application/json" id="data">${data}</script>
<script>${script()}</script>
</body>
</html>
`;
}

/** What a run that failed before its load does not have. */
const measured = (report: Report, { bands }: PageCharts): string[] => [
  operations(report),
  section("On one time axis", `${bandsText(bands)}<div id="time"></div>`),
  section("Percentiles", `<div id="percentiles"></div>`),
];

function bandsText(bands: PageCharts["bands"]): string {
  const named = (colour: string, some: PageCharts["bands"]) =>
    some.length === 0
      ? ""
      : `${colour} bands: ${[...new Set(some.map(({ name }) => name))].join(", ")}. `;
  const [faults = [], others = []] = [true, false].map((isFault) =>
    bands.filter((band) => band.isFault === isFault),
  );
  return `<p>${escape(named("Red", faults) + named("Grey", others))}</p>`;
}

/** Without percentiles: they need more samples than a second has. */
const milliseconds = (value: number | null | undefined): string =>
  value == null ? "" : value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);

function budgets({ budgets: all }: Report): string {
  if (all.length === 0) return "";
  const rows = all.map((one) => [one.text, describeValue(one), one.outcome]);
  return section("Budgets", table(["budget", "measured", "outcome"], rows));
}

function problems(report: Report): string {
  const { problems: all, generatorLimits, faults } = report;
  const lines = [
    ...all,
    ...generatorLimits,
    ...describeNeighbours(report),
    ...faults.map(describeFault),
  ];
  if (lines.length === 0) return "";
  return section("Remarks", `<ul>${lines.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>`);
}

function operations(report: Report): string {
  const { operations: all, seconds } = report;
  const times = ({ percentiles, maxMs }: Summary) => [
    ...reportedPercentiles.map((percent) => milliseconds(percentiles[String(percent)])),
    milliseconds(maxMs),
  ];
  const rows = [...all, ...controlsOf(report)].flatMap((one) => {
    const { name, perSecond, count, failed, limited, response, service } = one;
    const counts = [perSecond.toFixed(1), String(count), String(failed), String(limited)];
    const first = [name, "response", ...counts, ...times(response)];
    if (service === null) return [first];
    return [first, ["", "service", "", String(service.count), "", "", ...times(service)]];
  });
  const head = ["operation", "time", "per second", "count", "failed", "429"];
  const names = reportedPercentiles.map((percent) => `p${percent}`);
  const dropped = seconds.reduce((sum, one) => sum + one.dropped, 0);
  return section(
    "Operations",
    `${table([...head, ...names, "max"], rows)}
<p>Milliseconds. Response time counts from the intended start, service time from the send, and only what a generator in good order sent in time. A percentile with fewer than 10 samples beyond it is left out. ${dropped} arrivals were dropped. The floor is the simplest request to a raw server on this machine; a peer is another server under the same load.</p>`,
  );
}

function violations({ violations: all, numViolations }: Report): string {
  if (numViolations === 0) return "";
  const rows = all.map(({ kind, text, bot, requestId }) => [kind, text, bot, requestId ?? ""]);
  const head = ["kind", "what", "bot", "X-Request-Id"];
  return section(`${numViolations} broken promises`, table(head, rows));
}

function errors({ errors: all }: Report): string {
  if (all.length === 0) return section("Errors", "<p>None.</p>");
  const rows = all.map(({ operation, status, code, count, samples }) => [
    ...[operation, `${status} ${code}`, String(count), samples[0]?.message ?? ""],
    samples.map(({ requestId, at }) => `${requestId ?? "none"} at ${at.toFixed(1)} s`).join(", "),
  ]);
  return section("Errors", table(["operation", "code", "count", "message", "X-Request-Id"], rows));
}

function requests({ requests: counts, leaves, leftovers = [] }: Report): string {
  const list = (all: Readonly<Record<string, number>>, of = " ") =>
    Object.entries(all)
      .map(([name, count]) => `${count}${of}${name}`)
      .join(", ") || "none";
  const held = leftovers.map(describeLeftover).join("; ");
  return section(
    "Requests",
    facts([
      ["sent", String(counts.sent)],
      ["repeated by the client", list(counts.repeated, " after ")],
      ["connections", `${counts.connections}, ${counts.lostConnections} lost`],
      ["answered with 429, by setting", list(counts.limited, " x ")],
      ["left at the target", list(leaves)],
      ...(held === "" ? [] : [["held by the instance", held] as const]),
    ]),
  );
}

function generators({ generators: all, arrivals, run }: Report): string {
  if (all.length === 0) return "";
  const rows = all.map(({ numStalls, stalledMs, cpuSeconds, peakMib }, index) => [
    ...[String(index), String(numStalls), milliseconds(stalledMs)],
    ...[`${((cpuSeconds / run.seconds) * 100).toFixed(0)} %`, peakMib.toFixed(0)],
  ]);
  const { sent, late, lateness } = arrivals;
  return section(
    "Generators",
    `${table(["process", "stalls", "stalled ms", "of a core", "peak MiB"], rows)}
<p>${sent} arrivals, ${late} sent more than 50 ms late; lateness p50 ${milliseconds(lateness.percentiles["50"])} ms, p99 ${milliseconds(lateness.percentiles["99"])} ms, max ${milliseconds(lateness.maxMs)} ms.</p>`,
  );
}

function runFacts({ run, target, machine }: Report): string {
  const settings = Object.entries(target.settings).map(([name, value]) => `${name}=${value}`);
  return section(
    "Run",
    facts([
      ["command", run.command],
      [
        target.isOwn ? "commit" : "commit of the bench",
        `${run.commit ?? "unknown"}${run.isDirty ? " with changes" : ""}`,
      ],
      ["seed", String(run.seed)],
      ["started", run.startedAt],
      ["target", target.isOwn ? `an own instance ${settings.join(" ")}` : target.url],
      [
        "machine",
        `${machine.cores} x ${machine.cpu}, ${machine.memoryMib} MiB, ${machine.system}, Node ${machine.node}`,
      ],
      [
        "load of the machine",
        `${machine.loadBefore.toFixed(1)} before, ${machine.loadAfter.toFixed(1)} after`,
      ],
    ]),
  );
}

let bundled: string | null = null;

function script(): string {
  bundled ??= new TextDecoder().decode(
    buildSync({
      entryPoints: [join(folder, "draw.ts")],
      ...{ bundle: true, minify: true, write: false, format: "iife", target: "es2022" },
      legalComments: "none",
    }).outputFiles[0]?.contents,
  );
  return bundled.replaceAll("</script", "<\\/script");
}
