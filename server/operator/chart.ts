import { timestamp } from "../platform/time/clock.ts";
import { html, type Html, type Value } from "./html.ts";

export interface ChartSeries {
  name: string;
  /** One value for each period, oldest first; null where nothing is known. */
  values: readonly (number | null)[];
  /** Columns of one period are stacked; lines lie above them. */
  kind: "columns" | "line";
  /** `usual`, or what needs an operator; further lines are told apart by their tone. */
  tone: "usual" | "bad" | "good" | "quiet";
}

/** Something that happened, such as a start of the service. */
export interface ChartMark {
  atMs: number;
  title: string;
  text: string;
}

export interface ChartOptions {
  series: readonly ChartSeries[];
  /** Start of the first period. */
  fromMs: number;
  /** Length of a period. */
  stepMs: number;
  marks?: readonly ChartMark[];
  /** What the values count, such as "jobs a minute". */
  unit: string;
}

/** Of the drawing; it is stretched to the width of the page, and its texts stand beside it. */
const [columnWidth, gap, height] = [10, 2, 100];
const periodWidth = columnWidth + gap;
const dayMs = 86_400_000;
const numTimes = 3;

/** Values over time, drawn by the server. Its label says every value, for those who do not see it. */
export function chart({ series, fromMs, stepMs, marks = [], unit }: ChartOptions): Html {
  const number = Math.max(1, ...series.map(({ values }) => values.length));
  const width = number * periodWidth;
  const endMs = fromMs + number * stepMs;
  const top = topOf(series, number);
  const shown = marks.filter(({ atMs }) => atMs >= fromMs && atMs < endMs);
  const view = { fromMs, stepMs, top };
  return html`<figure class="chart">
    <figcaption>${keysOf(series)} <span class="quiet">(${unit}; times in UTC)</span></figcaption>
    <p class="scale"><span>${figure(top)}</span><span>0</span></p>
    <svg
      role="img"
      aria-label="${labelOf({ series, fromMs, stepMs, unit })}"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
    >
      ${columnsOf(series, view)} ${linesOf(series, view)}
      ${shown.map((mark) => markLine(mark, view))}
    </svg>
    <p class="times">
      ${timesOf(fromMs, endMs).map((at) => html`<span>${timeLabel(at, endMs - fromMs)}</span>`)}
    </p>
    ${markList(shown)}
  </figure>`;
}

interface View {
  fromMs: number;
  stepMs: number;
  /** Value at the upper edge. */
  top: number;
}

/** The next 1, 2 or 5 times a power of ten, so that the scale has a short number. */
function topOf(series: readonly ChartSeries[], number: number): number {
  const sums = Array.from({ length: number }, (_, at) =>
    series
      .filter(({ kind }) => kind === "columns")
      .reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  const lines = series.filter(({ kind }) => kind === "line").flatMap(({ values }) => [...values]);
  const most = [...sums, ...lines].reduce<number>((high, value) => Math.max(high, value ?? 0), 0);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= most) ?? most;
}

function columnsOf(series: readonly ChartSeries[], { top }: View): Value {
  const below: number[] = [];
  return series
    .filter(({ kind }) => kind === "columns")
    .map(({ name, values, tone }) =>
      values.map((value, at) => {
        const tall = tallOf(value ?? 0, top);
        const start = below[at] ?? 0;
        below[at] = start + tall;
        return html`<rect
          class="${tone}"
          x="${at * periodWidth}"
          y="${rounded(height - start - tall)}"
          width="${columnWidth}"
          height="${tall}"
        >
          <title>${name}: ${value === null ? "unknown" : figure(value)}</title>
        </rect>`;
      }),
    );
}

/** A value above zero is never invisible. */
const tallOf = (value: number, top: number) =>
  value <= 0 ? 0 : Math.max(1, rounded((value / top) * height));

const linesOf = (series: readonly ChartSeries[], { top }: View): Value =>
  series
    .filter(({ kind }) => kind === "line")
    .map(({ values, tone }) => html`<path class="${tone}" d="${pathOf(values, top)}" />`);

/** Begins anew after each value that is unknown; a single value is a dot as wide as a column. */
function pathOf(values: readonly (number | null)[], top: number): string {
  const steps = values.map((value, at) => {
    if (value === null) return "";
    const y = rounded(height - (value / top) * height);
    const start = (values[at - 1] ?? null) === null ? "M" : "L";
    return `${start}${at * periodWidth} ${y}h${columnWidth}`;
  });
  return steps.join("");
}

function markLine({ atMs, title, text }: ChartMark, { fromMs, stepMs }: View): Html {
  const x = rounded(((atMs - fromMs) / stepMs) * periodWidth);
  return html`<line class="mark" x1="${x}" x2="${x}" y1="0" y2="${height}">
    <title>${title}: ${text}</title>
  </line>`;
}

const keysOf = (series: readonly ChartSeries[]): Value =>
  series.map(({ name, tone }) => html`<span class="key ${tone}">${name}</span> `);

const markList = (marks: readonly ChartMark[]): Value =>
  marks.length > 0 &&
  html`<ul class="marks">
    ${marks.map(
      ({ atMs, title, text }) =>
        html`<li>
          <time datetime="${timestamp(atMs)}">${timestamp(atMs).slice(11, 19)}</time>
          <b>${title}</b> ${text}
        </li>`,
    )}
  </ul>`;

const labelOf = ({ series, fromMs, stepMs, unit }: Omit<ChartOptions, "marks">): string =>
  [
    `${unit}, from ${timestamp(fromMs).slice(0, 16)}, one value per ${spanText(stepMs)}, oldest first.`,
    ...series.map(({ name, values }) => `${name}: ${values.map(valueText).join(", ")}.`),
  ].join(" ");

const valueText = (value: number | null) => (value === null ? "unknown" : figure(value));

const units = [
  ["day", dayMs],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

function spanText(ms: number): string {
  const [name, unitMs] = units.find(([, length]) => ms >= length) ?? units[3];
  const count = figure(ms / unitMs);
  return count === "1" ? name : `${count} ${name}s`;
}

const timesOf = (fromMs: number, endMs: number): number[] =>
  Array.from(
    { length: numTimes },
    (_, at) => fromMs + (at * (endMs - fromMs)) / Math.max(1, numTimes - 1),
  );

/** The time of a day, or the day of a longer time. */
const timeLabel = (ms: number, spanMs: number): string =>
  spanMs > 2 * dayMs ? timestamp(ms).slice(5, 10) : timestamp(ms).slice(11, 16);

const rounded = (value: number) => Math.round(value * 10) / 10;
const figure = (value: number) => String(rounded(value));
