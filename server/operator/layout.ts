import type { Page } from "../http/pipeline/route.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import { html, type Html, type Value } from "./html.ts";

/** Scripts and styles of the pages; each is a file of the browser code. */
export const assetPath = "/operator/assets";

interface PageOptions {
  title: string;
  /** True for a page that keeps itself up to date while it is visible. */
  isLive?: boolean;
  /** Shown with the navigation; null on a page before the login. */
  caller: OperatorCaller | null;
}

const refreshSeconds = 10;
const refreshScript = html`<script src="${assetPath}/refresh.js" type="module"></script>`;
/** Only the layout writes it: values are escaped. */
const noticeMark = html`<!--notice-->`;

/** A page of `page` with a notice above its content. */
export const withNotice = ({ markup }: Page, notice: Html): Page => ({
  markup: markup.replace(noticeMark.markup, () => notice.markup),
});

/** Says that a page renews itself, and makes it do so. */
export const renewalOf = (): Html =>
  html`<span data-refresh-seconds="${refreshSeconds}">This page renews itself.</span
    >${refreshScript}`;

export const searchPath = "/operator/search";
const searchLabel = "Id, room code, name or address";
/** Maximum characters of a search. */
export const maxSearch = 200;

const places: readonly [href: string, text: string][] = [
  ["/operator", "Overview"],
  ["/operator/failures", "Failures"],
  ["/operator/queues", "Queues"],
  ["/operator/fleet", "Fleet"],
  ["/operator/workers", "Workers"],
  ["/operator/rooms", "Rooms"],
  ["/operator/avatar-uploads", "Avatars"],
  ["/operator/audit", "Audit"],
];

/** The document around the content of a page. */
export function page({ title, caller, isLive = false }: PageOptions, content: Value): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${assetPath}/base.css" />
        <link rel="stylesheet" href="${assetPath}/operator.css" />
        ${isLive && refreshScript}
        <title>${title}</title>
      </head>
      <body>
        ${caller && navigation(caller)}
        ${
          isLive
            ? html`<p class="wrong" role="status"></p>
                <main data-refresh-seconds="${refreshSeconds}">${noticeMark}${content}</main>`
            : html`<main>${noticeMark}${content}</main>`
        }
      </body>
    </html>`;
}

const navigation = ({ name, role }: OperatorCaller) =>
  html`<header>
    <nav>${places.map(([href, text]) => html`<a href="${href}">${text}</a> `)}</nav>
    <form class="search" role="search" method="post" action="${searchPath}">
      <input
        name="q"
        type="search"
        maxlength="${maxSearch}"
        aria-label="${searchLabel}"
        placeholder="${searchLabel}"
        required
      />
      <button>Search</button>
    </form>
    <form method="post" action="/operator/logout">
      <span>${name}, ${role}</span> <button class="plain">Log out</button>
    </form>
  </header>`;

/** A table that scrolls by itself on a narrow screen. */
export const table = (title: string, head: readonly string[], rows: readonly Value[][]): Html =>
  html`<h2>${title}</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            ${head.map((text) => html`<th>${text}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (cells) =>
              html`<tr>
                ${cells.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;

/** A timestamp of an answer, to the second. */
export const timeText = (at: string): string => at.slice(0, 19);

/** The same where it must stay on one line. */
export const timeCell = (at: string): Html => html`<time datetime="${at}">${timeText(at)}</time>`;

/** Marks what needs an operator. */
export const marked = (value: Value, isBad: boolean): Value =>
  isBad ? html`<strong class="wrong">${value}</strong>` : value;

export const alertText = (text: string): Html => html`<p class="wrong" role="alert">${text}</p>`;
