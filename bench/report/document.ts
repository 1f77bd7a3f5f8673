import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { markdownTable } from "../report.ts";

/** A report or a comparison, which is shown as Markdown and as a page. */
export interface Document {
  title: string;
  /** One sentence. */
  verdict: string;
  exitCode: number;
  about: string;
  sections: readonly Section[];
}

/** Left out when it is empty. */
export interface Section {
  title: string;
  head?: readonly string[];
  rows?: readonly (readonly string[])[];
  lines?: readonly string[];
  /** On the page only: the element with this id, which the script of the page fills. */
  id?: string;
}

/** The document for a terminal, or for a comment of a pull request. */
export function asMarkdown({ title, verdict, exitCode, about, sections }: Document): string {
  const parts = sections
    .filter(({ id }) => id === undefined)
    .map(({ title: name, head = [], rows = [], lines = [] }) => {
      const list = lines.map((line) => `- ${line}\n`).join("");
      if (rows.length === 0) return list && `\n${name}\n\n${list}`;
      return (
        markdownTable({ title: name, head: [...head], rows: rows.map((row) => [...row]) }) + list
      );
    });
  return `\n${title}: ${about}\n${parts.join("")}\n${verdict} Exit code ${exitCode}.\n`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => entities[character] ?? character);

/** The document as one HTML file that loads nothing else. `scripts` end it. */
export function asPage(document: Document, scripts = ""): string {
  const { title, verdict, exitCode, about, sections } = document;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}: ${escape(verdict)}</title>
<style>${styles()}</style>
</head>
<body>
<header class="${exitCode === 0 ? "passed" : "failed"}">
<h1>${escape(title)}</h1>
<p class="verdict">${escape(verdict)}</p>
<p>${escape(about)}. Exit code ${exitCode}.</p>
</header>
<main>
${sections.map(htmlOf).join("\n")}
</main>
${scripts}
</body>
</html>
`;
}

function htmlOf({ title, head = [], rows = [], lines = [], id }: Section): string {
  const content = [
    rows.length === 0 ? "" : table(head, rows),
    lines.length === 0
      ? ""
      : `<ul>${lines.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>`,
    id === undefined ? "" : `<div id="${id}"></div>`,
  ].join("");
  return content && `<section><h2>${escape(title)}</h2>${content}</section>`;
}

const isNumber = (cell: string): boolean => /^[\d.,]+( (%|ms|\/s|MiB))?$/.test(cell);

/** Scrolls on a narrow screen, also by the keyboard. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
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

/** Of a page and its charts. */
function styles(): string {
  const uplot = createRequire(import.meta.url).resolve("uplot");
  const charts = readFileSync(join(uplot, "../uPlot.min.css"), "utf8");
  return charts + readFileSync(join(import.meta.dirname, "page/style.css"), "utf8");
}
