import type { Pagination } from "../http/pipeline/route.ts";
import { html, type Value } from "./html.ts";

/** An address with the parts of its query that are given. */
export function addressWith(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Choices of a list beside each other; the chosen one is no link. */
export const tabs = (
  choices: readonly (readonly [isShown: boolean, href: string, text: string])[],
) =>
  html`<p class="tabs">
    ${choices.map(([isShown, href, text]) =>
      isShown ? html`<b>${text}</b> ` : html`<a href="${href}">${text}</a> `,
    )}
  </p>`;

/** Link to the page that follows in a list with a cursor. */
export const moreLink = (next: number | null, addressOf: (cursor: number) => string): Value =>
  next !== null && html`<p><a href="${addressOf(next)}">More</a></p>`;

/** Links to the pages before and after the shown one, and how many entries there are. */
export function pageLinks(
  pagination: Pagination | null,
  addressOf: (page: number) => string,
): Value {
  if (pagination === null) return null;
  const { page, total, has_more } = pagination;
  return html`<p>
    ${page > 1 && html`<a href="${addressOf(page - 1)}">Previous</a> `}
    ${has_more && html`<a href="${addressOf(page + 1)}">Next</a> `}
    <span class="quiet">Page ${page}; ${total} in all.</span>
  </p>`;
}
