import type { Static } from "typebox";
import { periodMs } from "../../platform/faults/batch.ts";
import { minuteMs } from "../../platform/job-times/recorder.ts";
import { chart } from "../chart.ts";
import { html, type Value } from "../html.ts";
import { marked } from "../layout.ts";
import type { LastHour } from "./schemas.ts";

/** Jobs by minute and failures by five minutes, both with what happened to processes. */
export function lastHourCharts({ jobs, failures, events }: Static<typeof LastHour>): Value {
  const marks = (events ?? []).map(({ at, title, text }) => ({
    atMs: Date.parse(at),
    title,
    text,
  }));
  return [
    jobs === null
      ? unknown("Jobs")
      : chart({
          series: [
            { name: "jobs completed", values: jobs.completed, kind: "columns", tone: "usual" },
            { name: "attempts retried", values: jobs.retried, kind: "columns", tone: "quiet" },
            { name: "jobs failed", values: jobs.failed, kind: "columns", tone: "bad" },
          ],
          fromMs: Date.parse(jobs.from),
          stepMs: minuteMs,
          marks,
          unit: "a minute",
        }),
    failures === null
      ? unknown("Failures")
      : chart({
          series: [
            { name: "failures", values: failures.occurrences, kind: "columns", tone: "bad" },
          ],
          fromMs: Date.parse(failures.from),
          stepMs: periodMs,
          unit: "in five minutes",
        }),
    events === null && unknown("Events of processes"),
  ];
}

const unknown = (what: string): Value =>
  html`<p>${marked(`${what} are unknown: their store does not respond.`, true)}</p>`;
