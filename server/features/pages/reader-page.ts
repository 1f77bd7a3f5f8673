import { escapeHtml } from "../../platform/text/markup.ts";
import { bytesReply, media } from "../../http/pipeline/route.ts";

/** Scripts, styles, pictures, sounds and connections of our own origin only. */
const policy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface ReaderPage {
  /** Entry script, `codex` or `data`; its link is marked in the navigation bar. */
  section: "codex" | "data";
  title: string;
  description: string;
  /** Address of the page's Atom feed. */
  feed?: { href: string; title: string };
  /** Slug of the game of `data`. */
  game?: string;
}

const sections = [
  ["codex", "Codex"],
  ["data", "Data"],
  ["play", "Play"],
  ["docs", "API"],
] as const;

/** HTML frame of a game data page; its script fills `main` from the public endpoints. */
function readerHtml({ section, title, description, feed, game = "" }: ReaderPage): string {
  const links = sections.map(([path, name]) => {
    const here = path === section ? ' aria-current="true"' : "";
    return `<a href="/${path}"${here}>${name}</a>`;
  });
  const alternate =
    feed === undefined
      ? ""
      : `\n    <link rel="alternate" type="application/atom+xml" href="${escapeHtml(feed.href)}" title="${escapeHtml(feed.title)}" />`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)} · emberline</title>
    <meta name="description" content="${escapeHtml(description)}" />
    <link rel="icon" href="/assets/icon.svg" />
    <link rel="stylesheet" href="/assets/base.css" />
    <link rel="stylesheet" href="/assets/reader.css" />
    <link rel="stylesheet" href="/assets/reader-lists.css" />
    <link rel="stylesheet" href="/assets/reader-values.css" />
    <link rel="stylesheet" href="/assets/${section}.css" />${alternate}
    <script type="module" src="/assets/${section}.js"></script>
  </head>
  <body data-game="${escapeHtml(game)}">
    <a class="skip" href="#main">To the content</a>
    <header class="bar">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="28" height="28" /> emberline</a>
      <nav aria-label="Parts of the service">${links.join("")}</nav>
    </header>
    <main id="main" aria-busy="true"><p class="loading">Loading…</p></main>
    <noscript><p class="loading">This page needs scripts; the same data is in the interface, see <a href="/docs">/docs</a>.</p></noscript>
  </body>
</html>
`;
}

const type = "text/html; charset=utf-8";

/** Shared parts of these routes. */
export const readerRoute = {
  method: "GET",
  tag: "Pages",
  auth: "public",
  source: "our own page",
  cache: "no-cache",
  // Every address gets a page.
  rare: { lenientPath: true },
  lenientQuery: true,
  errors: [],
  responses: { 200: media(type), 404: media(type) },
} as const;

export function readerReply(page: ReaderPage, status: 200 | 404 = 200) {
  return bytesReply(status, type, readerHtml(page), [
    ["Content-Security-Policy", policy],
    ["Referrer-Policy", "no-referrer"],
  ]);
}
