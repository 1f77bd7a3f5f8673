import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

export const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => entities[character] ?? character);

export const section = (title: string, content: string): string =>
  `<section><h2>${escape(title)}</h2>${content}</section>`;

const isNumber = (cell: string): boolean => /^[\d.,]+( (%|ms|\/s|MiB))?$/.test(cell);

/** Scrolls on a narrow screen, also by the keyboard. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (tag: string, text: string, isRight: boolean) =>
    `<${tag}${isRight ? ' class="number"' : ""}>${escape(text)}</${tag}>`;
  const hasNumbers = (column: number) => rows.some((row) => isNumber(row[column] ?? ""));
  const names = head.map((name, column) => cell("th", name, hasNumbers(column)));
  const lines = rows.map((row) => {
    const cells = row.map((text) => cell("td", text, isNumber(text)));
    return `<tr class="${escape(row.at(-1) ?? "")}">${cells.join("")}</tr>`;
  });
  return `<div class="scroll" tabindex="0"><table><thead><tr>${names.join("")}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
}

export const facts = (pairs: readonly (readonly [name: string, value: string])[]): string =>
  `<dl>${pairs.map(([name, value]) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`).join("")}</dl>`;

/** Of a page and its charts. */
export function styles(): string {
  const uplot = createRequire(import.meta.url).resolve("uplot");
  const charts = readFileSync(join(uplot, "../uPlot.min.css"), "utf8");
  return charts + readFileSync(join(import.meta.dirname, "page/style.css"), "utf8");
}
