import { el } from "../dom.ts";
import type { DiffSummary, FieldChange, Patch } from "../generated/answers.ts";
import { valueNode, type Context } from "./values.ts";
import { count, counted, date } from "./words.ts";

/** Pictures up to this width are pixel art and are enlarged without smoothing. */
const pixelArtWidth = 40;
/** Longer values of a change are collapsed. */
const longText = 240;

/** A picture of fixed size, or the initial of the name. */
export function iconNode(icon: { url: string } | null, name: string, size: number): HTMLElement {
  const style = `icon icon-${size}`;
  if (icon === null) {
    const initial = [...name.trim()][0]?.toUpperCase() ?? "?";
    return el("span", { class: `${style} letter`, "aria-hidden": "true" }, initial);
  }
  const image = el("img", {
    src: icon.url,
    alt: "",
    width: size,
    height: size,
    loading: "lazy",
    decoding: "async",
    onload: () => image.classList.toggle("pixels", image.naturalWidth <= pixelArtWidth),
    onerror: () => image.classList.add("broken"),
  });
  return el("span", { class: style }, image);
}

/** The date of a patch. */
export const patchDay = (patch: Patch): string =>
  date(patch.released_at) ?? `imported ${date(patch.imported_at) ?? ""}`;

const kinds = [
  ["added", "+", "new"],
  ["changed", "~", "changed"],
  ["removed", "−", "removed"],
] as const;

/** The number of added, changed and removed entities of a patch. */
export function tally(summary: DiffSummary): HTMLElement {
  const total = summary.added + summary.changed + summary.removed;
  if (total === 0) return el("span", { class: "tally quiet" }, "nothing changed");
  const parts = kinds.map(([kind, sign, word]) =>
    summary[kind] === 0
      ? null
      : el(
          "span",
          { class: kind, title: `${count(summary[kind])} ${word}` },
          el("span", { "aria-hidden": "true" }, sign),
          count(summary[kind]),
          el("span", { class: "unseen" }, ` ${word}`),
        ),
  );
  return el("span", { class: "tally" }, parts);
}

export const tallyOf = (patch: Patch): HTMLElement =>
  tally({ added: patch.num_added, changed: patch.num_changed, removed: patch.num_removed });

const hashForm = /^[0-9a-f]{64}$/;

/** Shows a changed picture instead of its hash. */
function pictureNode(hash: string) {
  const name = hash.slice(0, 8);
  return el(
    "span",
    { class: "named", title: hash },
    iconNode({ url: `/v1/codex/assets/${hash}` }, name, 40),
    el("code", {}, name),
  );
}

/** One side of a change. */
function sideNode(value: unknown, context: Context, kind: "del" | "ins", path: string) {
  const isNothing = value === null;
  const isHash = /^(icon|assets)\b.*hash$/.test(path) && hashForm.test(String(value));
  const shown = isHash ? pictureNode(String(value)) : valueNode(value, context);
  const node = el(kind, isNothing ? { class: "none" } : {}, shown);
  const length = JSON.stringify(value).length;
  if (length <= longText) return node;
  return el("details", {}, el("summary", {}, counted(length, "character")), node);
}

/** Fields that differ: path, before, after. */
export function changesTable(changes: readonly FieldChange[], context: Context): HTMLElement {
  const rows = changes.map(({ path, before, after }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("code", {}, path.replace(/^data\.(?=.)/, ""))),
      el(
        "td",
        {},
        el(
          "div",
          { class: "change" },
          sideNode(before, context, "del", path),
          el("span", { class: "arrow" }, el("span", { "aria-hidden": "true" }, "→")),
          sideNode(after, context, "ins", path),
        ),
      ),
    ),
  );
  return el("table", { class: "changes" }, el("tbody", {}, ...rows));
}

/** A field with its label. Only the label is its accessible name, without the options. */
export function labelled(label: string, field: Element): HTMLElement {
  field.setAttribute("aria-label", label);
  return el("label", { class: "field" }, el("span", {}, label), field);
}

interface MoreButton {
  button: HTMLButtonElement;
  said: HTMLElement;
}

/**
 * A button that loads more, and an error line for a failed load. It keeps the focus while loading, so that
 * keyboard users can continue there.
 */
export function moreButton(next: () => Promise<void>): MoreButton {
  const said = el("p", { class: "quiet centered-text", role: "status" });
  const run = async () => {
    if (button.hasAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true");
    const problem = await next().then(
      () => "",
      () => "This did not work just now. Try again in a moment.",
    );
    said.textContent = problem;
    button.removeAttribute("aria-disabled");
  };
  const button = el(
    "button",
    { type: "button", class: "wide", onclick: () => void run() },
    "Show more",
  );
  return { button, said };
}

interface RowsOfPage<Cursor> {
  rows: readonly Node[];
  /** Of the next page; null after the last one. */
  next: Cursor | null;
  /** Of all pages. */
  count: number;
}

/** A table of the rows so far, and a button for more. */
export function growingTable<Cursor>(
  heads: readonly Node[],
  first: RowsOfPage<Cursor>,
  read: (cursor: Cursor) => Promise<RowsOfPage<Cursor>>,
): HTMLElement {
  const body = el("tbody", {});
  const progress = el("p", { class: "quiet centered-text" });
  let cursor: Cursor | null = null;
  const more = moreButton(async () => {
    if (cursor !== null) add(await read(cursor));
  });
  const add = ({ rows, next, count: all }: RowsOfPage<Cursor>) => {
    body.append(...rows);
    cursor = next;
    more.button.hidden = cursor === null;
    progress.textContent = `${count(body.childElementCount)} of ${count(all)}`;
  };
  add(first);
  const head = el("thead", {}, el("tr", {}, ...heads));
  const table = el("table", { class: "list" }, head, body);
  const card = el("div", { class: "card list-card" }, table);
  return el("div", {}, card, progress, more.button, more.said);
}

export type Choices = readonly (readonly [value: string, text: string])[];

export function chooser(
  choices: Choices,
  chosen: string,
  onChoice: (value: string) => void,
): HTMLSelectElement {
  const options = choices.map(([value, text]) =>
    el("option", { value, selected: value === chosen }, text),
  );
  const select = el("select", { onchange: () => onChoice(select.value) }, ...options);
  return select;
}

/** A select that navigates to another page. */
export function pageChooser(
  choices: Choices,
  chosen: string,
  onChoice: (value: string) => void,
): HTMLSelectElement {
  const select = chooser(choices, chosen, onChoice);
  const shown = select.value;
  // Going back restores the page with the new choice, so the choice is reset on leaving.
  addEventListener("pagehide", () => (select.value = shown));
  return select;
}
