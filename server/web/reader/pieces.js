import { make } from "./page.js";
import { count, counted, date } from "./words.js";
import { valueNode } from "./values.js";

/** Pictures no wider than this are pixel art: enlarged, their pixels stay sharp. */
const pixelArtWidth = 40;
/** Characters of one side of a change that are shown before it opens on demand. */
const longText = 240;

/** A picture in a place of fixed size, or the initial of the name. @param {{ url: string } | null} icon @param {string} name @param {number} size */
export function iconNode(icon, name, size) {
  const style = `icon icon-${size}`;
  if (icon === null) {
    const initial = [...name.trim()][0]?.toUpperCase() ?? "?";
    return make("span", { class: `${style} letter`, "aria-hidden": "true" }, initial);
  }
  const image = make("img", {
    src: icon.url,
    alt: "",
    width: size,
    height: size,
    loading: "lazy",
    decoding: "async",
    load: () => image.classList.toggle("pixels", image.naturalWidth <= pixelArtWidth),
    error: () => image.classList.add("broken"),
  });
  return make("span", { class: style }, image);
}

/** @typedef {{ version: string, version_raw: string, released_at: string | null, imported_at: string,
 *   num_added: number, num_changed: number, num_removed: number }} Patch */

/** When a patch came. @param {Patch} patch */
export const patchDay = (patch) =>
  date(patch.released_at) ?? `imported ${date(patch.imported_at) ?? ""}`;

const kinds = /** @type {const} */ ([
  ["added", "+", "new"],
  ["changed", "~", "changed"],
  ["removed", "−", "removed"],
]);

/** What a patch did, as three numbers. @param {{ added: number, changed: number, removed: number }} summary */
export function tally(summary) {
  const total = summary.added + summary.changed + summary.removed;
  if (total === 0) return make("span", { class: "tally quiet" }, "nothing changed");
  const parts = kinds.flatMap(([kind, sign, word]) =>
    summary[kind] === 0
      ? []
      : make(
          "span",
          { class: kind, title: `${count(summary[kind])} ${word}` },
          make("span", { "aria-hidden": "true" }, sign),
          count(summary[kind]),
          make("span", { class: "unseen" }, ` ${word}`),
        ),
  );
  return make("span", { class: "tally" }, ...parts);
}

/** @param {Patch} patch */
export const tallyOf = (patch) =>
  tally({ added: patch.num_added, changed: patch.num_changed, removed: patch.num_removed });

const hashForm = /^[0-9a-f]{64}$/;

/** A picture that changed is shown, not its hash. @param {string} hash */
function pictureNode(hash) {
  const name = hash.slice(0, 8);
  return make(
    "span",
    { class: "named", title: hash },
    iconNode({ url: `/v1/codex/assets/${hash}` }, name, 40),
    make("code", {}, name),
  );
}

/** One side of a change. @param {unknown} value @param {import("./values.js").Context} context @param {string} kind @param {string} path */
function sideNode(value, context, kind, path) {
  const isNothing = value === null;
  const isHash = /^(icon|assets)\b.*hash$/.test(path) && hashForm.test(String(value));
  const shown = isHash ? pictureNode(String(value)) : valueNode(value, context);
  const node = make(kind, isNothing ? { class: "none" } : {}, shown);
  const length = JSON.stringify(value).length;
  if (length <= longText) return node;
  return make("details", {}, make("summary", {}, counted(length, "character")), node);
}

/** Fields that differ: path, before, after. @param {{ path: string, before: unknown, after: unknown }[]} changes @param {import("./values.js").Context} context */
export function changesTable(changes, context) {
  const rows = changes.map(({ path, before, after }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, path.replace(/^data\.(?=.)/, ""))),
      make(
        "td",
        {},
        make(
          "div",
          { class: "change" },
          sideNode(before, context, "del", path),
          make("span", { class: "arrow" }, make("span", { "aria-hidden": "true" }, "→")),
          sideNode(after, context, "ins", path),
        ),
      ),
    ),
  );
  return make("table", { class: "changes" }, make("tbody", {}, ...rows));
}

/** A field with its label, which alone is its name: what a choice offers is not part of it. @param {string} label @param {Element} field */
export function labelled(label, field) {
  field.setAttribute("aria-label", label);
  return make("label", { class: "field" }, make("span", {}, label), field);
}

/**
 * A button that shows what comes next, and a line that says when that could not be read. It keeps the focus while
 * it works, so that the keyboard can go on from it.
 * @param {() => Promise<void>} next
 */
export function moreButton(next) {
  const said = make("p", { class: "quiet centered-text", role: "status" });
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
  const button = make(
    "button",
    { type: "button", class: "wide", click: () => void run() },
    "Show more",
  );
  return { button, said };
}

/** @param {[value: string, text: string][]} choices @param {string} chosen @param {(value: string) => void} onChoice @param {Record<string, any>} [attributes] */
export function chooser(choices, chosen, onChoice, attributes = {}) {
  const options = choices.map(([value, text]) =>
    make("option", { value, selected: value === chosen }, text),
  );
  const select = make(
    "select",
    { ...attributes, change: () => onChoice(select.value) },
    ...options,
  );
  return select;
}

/**
 * A choice that leads to another page.
 * @param {[value: string, text: string][]} choices @param {string} chosen @param {(value: string) => void} onChoice
 */
export function pageChooser(choices, chosen, onChoice) {
  const select = chooser(choices, chosen, onChoice);
  const shown = select.value;
  // Browsers show a page one goes back to as it was left, which is after the choice.
  addEventListener("pagehide", () => (select.value = shown));
  return select;
}
