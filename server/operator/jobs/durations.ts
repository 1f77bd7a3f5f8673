import { html, type Value } from "../html.ts";
import type { PercentilesBody } from "./schemas.ts";

const units: readonly [ms: number, name: string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A duration with two figures at least, such as "850 ms", "1.5 s" or "12 min". */
export function durationText(ms: number): string {
  const [length, name] = units.find(([unitMs]) => ms >= unitMs) ?? [1, "ms"];
  const value = ms / length;
  return `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)} ${name}`;
}

/** A duration on one line of a table. */
const cell = (ms: number): Value => html`<span class="figure">${durationText(ms)}</span>`;

/** Cells for p50, p95 and p99; empty ones without an attempt. */
export const percentileCells = (percentiles: PercentilesBody): Value[] =>
  percentiles === null
    ? ["", "", ""]
    : [cell(percentiles.p50), cell(percentiles.p95), cell(percentiles.p99)];

export const ageCell = (seconds: number | null): Value =>
  seconds === null ? "" : cell(seconds * 1_000);
