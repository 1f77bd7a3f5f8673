import uPlot from "uplot";
import type { Chart, PageCharts } from "../charts.ts";

/** Runs in the report's page: draws its charts, in the theme of the reader, again for print. */
const themes = {
  light: {
    text: "#1b1f24",
    grid: "#d0d7de",
    fault: "#b4231833",
    stall: "#57606a22",
    lines: ["#0b6bcb", "#b35900", "#8250df", "#1a7f37", "#b42318", "#57606a", "#0e7490", "#9a6700"],
  },
  dark: {
    text: "#e6e9ed",
    grid: "#3a424c",
    fault: "#ff8a7a44",
    stall: "#a0a8b226",
    lines: ["#6cb6ff", "#f0a35e", "#c297ff", "#57c26c", "#ff8a7a", "#a0a8b2", "#56d4dd", "#e3b341"],
  },
} as const;
type Theme = keyof typeof themes;

const height = 200;
const printWidth = 330;
/** So many points are marked, since a line shows them badly. */
const fewPoints = 30;
/** Names of more faults would cover each other. */
const fewFaults = 6;
const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageCharts;
const isDark = matchMedia("(prefers-color-scheme: dark)");
let drawn: uPlot[] = [];

function drawAll(theme: Theme, width?: number): void {
  for (const chart of drawn) chart.destroy();
  drawn = [
    ...drawInto("time", data.time, theme, width),
    ...drawInto("percentiles", data.percentiles, theme, width),
  ];
}

function drawInto(id: string, charts: readonly Chart[], theme: Theme, width?: number): uPlot[] {
  const place = document.getElementById(id);
  if (!place) return [];
  const all = charts.map((chart) => ({ chart, figure: figureOf(chart) }));
  // All of them before the first is measured: alone in its row it would be as wide as the page.
  place.replaceChildren(...all.map(({ figure }) => figure));
  return all.map(({ chart, figure }) => {
    const options = optionsOf(chart, theme, id === "time", width ?? figure.clientWidth - 16);
    const plot = new uPlot(options, chart.columns as uPlot.AlignedData, figure);
    figure.addEventListener("keydown", (event) => move(plot, event));
    return plot;
  });
}

function figureOf({ title, unit }: Chart): HTMLElement {
  const figure = document.createElement("figure");
  figure.tabIndex = 0;
  figure.setAttribute("aria-label", `${title}; arrow keys read its values`);
  const caption = document.createElement("figcaption");
  caption.textContent = `${title} (${unit})`;
  figure.append(caption);
  return figure;
}

function optionsOf(chart: Chart, theme: Theme, isTime: boolean, width: number): uPlot.Options {
  const { text, grid, lines } = themes[theme];
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
  const percent = (x: number) => `p${Number((100 - 100 / x).toFixed(2))}`;
  return {
    width,
    height,
    scales: { x: isTime ? timeScale : nineScale, y: { range: fromZero } },
    cursor: isTime ? { sync: { key: "time" } } : {},
    axes: [
      isTime
        ? { ...axis, values: (_, ticks) => ticks.map((at) => `${at} s`) }
        : { ...axis, values: (_, ticks) => ticks.map((x) => (x === null ? "" : percent(x))) },
      { ...axis, size: 70 },
    ],
    series: [
      { label: isTime ? "second" : "percentile", value: (_, x) => (isTime ? x : x && percent(x)) },
      ...chart.lines.map((label, index) => ({
        label,
        stroke: lines[index % lines.length] ?? text,
        width: 1.5,
        spanGaps: true,
        ...(index < lines.length ? {} : { dash: [6, 3] }),
        points: { show: !isTime || (chart.columns[0]?.length ?? 0) < fewPoints },
      })),
    ],
    hooks: isTime ? { drawClear: [(plot) => drawBands(plot, theme)] } : {},
  };
}

const timeScale: uPlot.Scale = { time: false, range: () => [0, data.seconds] };
/** Each nine of a percentile is as wide as the one before. */
const nineScale: uPlot.Scale = { time: false, distr: 3 };
const fromZero: uPlot.Range.Function = (_plot, _min, max) => [0, max > 0 ? max * 1.05 : 1];

/** Faults, with their names if they are few, and stalls of the generator, behind the lines. */
function drawBands(plot: uPlot, theme: Theme): void {
  const { ctx, bbox } = plot;
  const { fault, stall, text } = themes[theme];
  const lineHeight = 12 * devicePixelRatio;
  const faults = data.bands.filter(({ isFault }) => isFault);
  ctx.save();
  ctx.font = `${lineHeight}px system-ui, sans-serif`;
  for (const band of data.bands) {
    const left = plot.valToPos(band.from, "x", true);
    const right = plot.valToPos(band.to, "x", true);
    ctx.fillStyle = band.isFault ? fault : stall;
    ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
    if (!band.isFault || faults.length > fewFaults) continue;
    ctx.fillStyle = text;
    const line = faults.indexOf(band) + 1;
    ctx.fillText(band.name, left + lineHeight / 4, bbox.top + line * lineHeight);
  }
  ctx.restore();
}

/** Moves the cursor from point to point, in all charts of the time axis at once. */
function move(plot: uPlot, event: KeyboardEvent): void {
  const last = (plot.data[0]?.length ?? 1) - 1;
  const at = plot.cursor.idx ?? -1;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    Home: 0,
    End: last,
  };
  const to = steps[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const x = plot.data[0]?.[Math.min(last, Math.max(0, to))] ?? 0;
  plot.setCursor({ left: plot.valToPos(x, "x"), top: 0 });
}

const draw = () => drawAll(isDark.matches ? "dark" : "light");
draw();
isDark.addEventListener("change", draw);
addEventListener("resize", draw);
addEventListener("beforeprint", () => drawAll("light", printWidth));
addEventListener("afterprint", draw);
