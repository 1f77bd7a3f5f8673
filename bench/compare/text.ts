import type { Document } from "../report/document.ts";
import { percent, type Comparison, type Row } from "./compare.ts";

const explanation = [
  "the ratio is after to before, with an interval that fits all figures at once in 95 of 100 comparisons",
  "a smaller difference than the visible one would not have shown",
  "the floor, a raw server on this machine, is the control",
];

const digits = (value: number): string => String(Number(value.toPrecision(3)));

const cellsOf = ({ figure, before, after, interval, visible, outcome }: Row): string[] => [
  ...[figure, digits(before), digits(after), `${interval.ratio.toFixed(2)}x`],
  `${interval.low.toFixed(2)}-${interval.high.toFixed(2)}`,
  ...[percent(visible), outcome ?? "control"],
];

export const comparisonDocument = (comparison: Comparison): Document => ({
  title: comparison.scenario,
  verdict: comparison.verdict,
  exitCode: comparison.exitCode,
  about: `${comparison.after} against ${comparison.before}; ${comparison.load}; ${comparison.measured}`,
  sections: [
    {
      title: "Figures",
      head: ["figure", "before", "after", "ratio", "interval", "smallest visible", "outcome"],
      rows: comparison.rows.map(cellsOf),
      lines: explanation,
    },
    { title: "Remarks", lines: comparison.remarks },
  ],
});
