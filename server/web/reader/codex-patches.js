import { patchRow } from "./codex-games.js";
import { placeLine, readGame } from "./codex-place.js";
import { emptyCard, make, setTitle } from "./page.js";
import { changesTable, pageChooser, labelled, moreButton, patchDay, tally } from "./pieces.js";
import { counted, nameOfId, plural } from "./words.js";

/** Entries of one read of the changelog. */
const pageSize = 100;

/** @typedef {import("./codex-place.js").Place} Place */

/** All patches of a branch, newest first. @param {Place} place */
export async function patchesView(place) {
  const [game, { patches }] = await Promise.all([readGame(place), place.ask("patches")]);
  setTitle(`Patches of ${game.display_name}`);
  const byYear = Map.groupBy(patches, (/** @type {any} */ patch) =>
    (patch.released_at ?? patch.imported_at).slice(0, 4),
  );
  const years = [...byYear].map(([year, some]) =>
    make(
      "section",
      { class: "card" },
      make("h2", {}, year),
      make("ol", { class: "plain patch-list" }, ...some.map((patch) => patchRow(place, patch))),
    ),
  );
  return [
    placeLine(place, game, [["Patches", null]]),
    make(
      "header",
      { class: "head split" },
      make("h1", {}, "Patches"),
      make("a", { class: "button", href: place.feed }, "Atom feed"),
    ),
    ...(patches.length === 0 ? [emptyCard("There is no patch yet")] : years),
  ];
}

/** The notes of a patch, made from what changed. @param {Place} place @param {string} version */
export async function patchView(place, version) {
  const asked = new URLSearchParams(location.search);
  const [from, type] = [asked.get("from") ?? undefined, asked.get("type") ?? undefined];
  const read = (/** @type {number} */ cursor) =>
    place.ask("changelog", { to: version, from, type, limit: pageSize, cursor });
  const [game, { patches }, manifest, log] = await Promise.all([
    readGame(place),
    place.ask("patches"),
    place.ask("manifest"),
    read(0),
  ]);
  // What the patch removed for good, or what was asked for, need not be there now.
  const known = [...Object.keys(manifest.types), ...Object.keys(log.types), type ?? []].flat();
  const types = [...new Set(known)].sort();
  const patch = patches.find((/** @type {any} */ one) => one.id === log.to.id);
  setTitle(`${game.display_name} ${log.to.version_raw}`);
  return [
    placeLine(place, game, [
      ["Patches", place.patches],
      [log.to.version_raw, null],
    ]),
    headOf(patch, log),
    controls(place, { patches, patch, log, type, types }),
    log.count === 0
      ? emptyCard("Nothing changed", "The patch is known, and every entity stayed as it was.")
      : notes(place, log, read),
  ];
}

/** @param {any} patch @param {any} log */
function headOf(patch, log) {
  return make(
    "header",
    { class: "head" },
    make("h1", {}, `Patch ${log.to.version_raw}`),
    make(
      "p",
      { class: "lead" },
      patch ? `${patchDay(patch)} · ` : "",
      log.from === null ? "the first patch" : `since ${log.from.version_raw}`,
      " · ",
      tally(log.summary),
    ),
  );
}

/** @param {Place} place @param {{ patches: any[], patch: any, log: any, type: string | undefined, types: string[] }} facts */
function controls(place, { patches, patch, log, type, types }) {
  const index = patches.indexOf(patch);
  const [newer, older] = [patches[index - 1], patches[index + 1]];
  const go = (/** @type {Record<string, unknown>} */ rest) =>
    location.assign(place.patch(log.to.version, { from: asked("from"), type, ...rest }));
  const asked = (/** @type {string} */ name) => new URLSearchParams(location.search).get(name);
  const step = (/** @type {any} */ one, /** @type {string} */ text, /** @type {string} */ rel) =>
    one && make("a", { class: "button", rel, href: place.patch(one.version, { type }) }, text);
  const since = patches
    .slice(index + 1)
    .map((one) => /** @type {[string, string]} */ ([one.version, one.version_raw]));
  return make(
    "div",
    { class: "card controls" },
    since.length > 0 &&
      labelled(
        "Compared with",
        pageChooser(since, log.from?.version ?? "", (chosen) =>
          go({ from: chosen === older?.version ? undefined : chosen }),
        ),
      ),
    labelled(
      "Type",
      pageChooser(
        [
          ["", "all types"],
          ...types.map((one) => /** @type {[string, string]} */ ([one, plural(one)])),
        ],
        type ?? "",
        (chosen) => go({ type: chosen }),
      ),
    ),
    make(
      "span",
      { class: "row" },
      step(older, `← ${older?.version_raw}`, "prev"),
      step(newer, `${newer?.version_raw} →`, "next"),
    ),
  );
}

/** Sections by type; what comes later is added to them. @param {Place} place @param {any} first @param {(cursor: number) => Promise<any>} read */
function notes(place, first, read) {
  const holder = make("div", { class: "notes" });
  const more = moreButton(async () => show(await read(cursor)));
  let cursor = first.next;
  const show = (/** @type {any} */ log) => {
    for (const [type, group] of Object.entries(log.types))
      holder.append(typeSection(place, type, group, log));
    cursor = log.next;
    more.button.hidden = cursor === null;
    if (cursor !== null)
      more.button.textContent = `Show more of ${counted(log.count, "entry", "entries")}`;
  };
  show(first);
  return make("div", {}, holder, more.button, more.said);
}

/** @param {Place} place @param {string} type @param {any} group @param {any} log */
function typeSection(place, type, { added, changed, removed }, log) {
  const context = {
    addressOf: (/** @type {string} */ id) => place.page(id, { at: log.to.version }),
  };
  const link = (/** @type {any} */ one, /** @type {string | undefined} */ at) =>
    make("a", { href: place.page(one.id, { at }) }, one.name || nameOfId(one.id));
  const names = (/** @type {any[]} */ some, /** @type {string | undefined} */ at) =>
    make("ul", { class: "inline names" }, ...some.map((one) => make("li", {}, link(one, at))));
  const entries = changed.map((/** @type {any} */ one) =>
    make(
      "article",
      { class: "entry" },
      make("h4", {}, link(one, log.to.version)),
      changesTable(one.changes, context),
    ),
  );
  const part = (
    /** @type {string} */ kind,
    /** @type {string} */ title,
    /** @type {Node[]} */ nodes,
  ) => make("div", { class: `part ${kind}` }, make("h3", {}, title), ...nodes);
  return make(
    "section",
    { class: "card" },
    make("h2", {}, make("a", { class: "plain-link", href: place.page(type) }, plural(type))),
    added.length > 0 &&
      part("added", counted(added.length, "new", "new"), [names(added, log.to.version)]),
    changed.length > 0 && part("changed", counted(changed.length, "changed", "changed"), entries),
    removed.length > 0 &&
      part("removed", counted(removed.length, "removed", "removed"), [
        names(removed, log.from?.version),
      ]),
  );
}
