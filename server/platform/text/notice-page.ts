import { escapeHtml } from "./markup.ts";

/** Content-Security-Policy of a page of our own that no site may frame (S21). */
export const pagePolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface Notice {
  language: string;
  title: string;
  heading: string;
  text: string;
  /** Where to go on. */
  link?: { href: string; label: string };
}

/** A page without a script that says one thing. */
export function noticePage({ language, title, heading, text, link }: Notice): string {
  const way = link
    ? `\n    <p><a href="${escapeHtml(link.href)}">${escapeHtml(link.label)}</a></p>`
    : "";
  return `<!doctype html>
<html lang="${language}">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="robots" content="noindex" />
  <title>emberline: ${escapeHtml(title)}</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <main>
    <h1>${escapeHtml(heading)}</h1>
    <p class="card">${escapeHtml(text)}</p>${way}
  </main>
</html>
`;
}
