import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html } from "../html.ts";
import { page, table } from "../layout.ts";
import type { SearchBody } from "./schemas.ts";

interface SearchView {
  body: Static<typeof SearchBody>;
  caller: OperatorCaller;
}

/** What was found, unless it is one thing: a browser then goes to its page. */
export const searchPage = ({ body: { found, not_searched }, caller }: SearchView): Html =>
  page(
    { title: "Search", caller },
    html`<h1>Search</h1>
      ${
        not_searched.length > 0 &&
        html`<p class="wrong">No response: ${not_searched.join(", ")} were not searched.</p>`
      }
      ${
        found.length === 0
          ? html`<p>
              Nothing has exactly this id, room code, name or address. Requests are kept for 24
              hours if they failed, took more than a second or queued work.
            </p>`
          : table(
              "Found",
              ["What", "Name", "More"],
              found.map(({ what, name, note, path }) => [
                what,
                html`<a href="${path}">${name}</a>`,
                note,
              ]),
            )
      }`,
  );

/** The page of the only thing found, or null. */
export const onlyFound = ({ body: { found, not_searched } }: SearchView): string | null =>
  found.length === 1 && not_searched.length === 0 ? (found[0]?.path ?? null) : null;
