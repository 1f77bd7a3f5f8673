import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asset } from "../../platform/assets.ts";
import { bytesReply, defineRoute, media, type Route } from "../../http/pipeline/route.ts";

export const decisionsPath = "/docs/decisions";

const folder = asset("server/decisions");
const policy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Ids of rules and promises, as in the sources of routes. */
const idPattern = /\b(?:[A-Z]{2,5}-\d{2}|S\d{1,2})\b/g;

/** Links each id in a text to its record. */
export const withRecordLinks = (text: string): string =>
  text.replaceAll(idPattern, `[$&](${decisionsPath}#$&)`);

/** The areas in the order of the index, as Markdown. */
function readAreas(): string[] {
  const index = readFileSync(join(folder, "README.md"), "utf8");
  const names = [...index.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name = ""]) => name);
  return names.map((name) => readFileSync(join(folder, name), "utf8"));
}

/** Anchors: the id of a record, the title of a section. */
const anchorOf = (title: string): string =>
  /^[A-Z]+-?\d+$/.test(title) ? title : title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

async function render(): Promise<string> {
  const { Marked } = await import("marked");
  const marked = new Marked({
    renderer: {
      // One level below the title of the page.
      heading({ text, depth }) {
        const tag = `h${depth + 1}`;
        return `<${tag} id="${anchorOf(text)}"><a href="#${anchorOf(text)}">${text}</a></${tag}>\n`;
      },
    },
  });
  const areas = readAreas();
  const titles = areas.map((area) => /^# (.+)$/m.exec(area)?.[1] ?? "");
  // Headings are no text that cites an id.
  const parts = areas.map((area) => area.replaceAll(/^[^#\n].*$/gm, withRecordLinks));
  const list = titles.map((title) => `<li><a href="#${anchorOf(title)}">${title}</a></li>`);
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>emberline: decision records</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <main>
    <p><a href="/docs">Documentation</a></p>
    <h1>Decision records</h1>
    <p>Decisions where several behaviours would be possible, with their reasons. Operations and code cite a record by its id.</p>
    <ul>${list.join("")}</ul>
${parts.map((part) => marked.parse(part)).join("\n")}
  </main>
</html>
`;
}

let page: Promise<string> | null = null;

/** The records of `server/decisions`, rendered at the first visit. */
export const decisionsPage: Route<unknown> = defineRoute({
  method: "GET",
  path: decisionsPath,
  summary: "The decision records that operations and code cite",
  tag: "Pages",
  auth: "public",
  source: "our own page",
  cache: "no-cache",
  responses: { 200: media("text/html; charset=utf-8") },
  errors: [],
  handler: async () =>
    bytesReply(200, "text/html; charset=utf-8", await (page ??= render()), [
      ["Content-Security-Policy", policy],
      ["Referrer-Policy", "no-referrer"],
    ]),
});
