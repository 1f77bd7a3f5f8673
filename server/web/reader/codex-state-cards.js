import { make } from "./page.js";
import { changesTable, iconNode } from "./pieces.js";
import { factsNode } from "./values.js";
import { nameOfId, readable } from "./words.js";

/** @typedef {import("./codex-place.js").Place} Place */
/** @typedef {import("./codex-states.js").State} State */

/** @param {Place} place @param {State} state */
function contextOf(place, { step, change }) {
  const paths = (change?.changes ?? []).map((/** @type {any} */ one) => one.path);
  return {
    addressOf: (/** @type {string} */ id) => place.page(id, { at: step.version }),
    changed: new Set(/** @type {string[]} */ (paths)),
  };
}

/** What differs from the state compared with; nothing for the first state alone. @param {Place} place @param {State} state */
export function differences(place, state) {
  const { change, other } = state;
  if (change === null || other === null || change.op === "removed") return [];
  if (change.op !== "changed") {
    const text =
      change.op === "added" ? `It was not there in ${other.raw}.` : `The same as in ${other.raw}.`;
    return [make("p", { class: "card quiet" }, text)];
  }
  const { addressOf } = contextOf(place, state);
  return [
    make(
      "section",
      { class: "card diff" },
      make("h2", {}, "Differences ", make("small", { class: "quiet" }, `since ${other.raw}`)),
      changesTable(change.changes, { addressOf }),
    ),
  ];
}

/** The data as tables, and as it is on the wire. @param {Place} place @param {State} state */
export function dataCard(place, state) {
  const json = make("pre", { tabindex: 0 });
  const raw = make(
    "details",
    { toggle: () => (json.textContent ||= JSON.stringify(state.entity.data, null, 2)) },
    make("summary", {}, "As JSON"),
    json,
  );
  return make(
    "section",
    { class: "card" },
    make("h2", {}, "Data"),
    factsNode(state.entity.data, contextOf(place, state), "data"),
    raw,
  );
}

/** Links by relation. @param {Place} place @param {State} state */
export function linksCard(place, { entity, step }) {
  if (entity.links.length === 0) return [];
  const byRel = Map.groupBy(entity.links, (/** @type {any} */ link) => link.rel);
  const groups = [...byRel].flatMap(([rel, links]) => {
    const isRead = Object.hasOwn(entity.hydrated ?? {}, rel);
    const found = isRead ? [entity.hydrated[rel]].flat() : [];
    const items = links.map((/** @type {any} */ link, /** @type {number} */ index) =>
      linkItem(place, link.target, found[index], step.version),
    );
    return [make("h3", {}, readable(rel)), make("ul", { class: "plain link-list" }, ...items)];
  });
  return [make("section", { class: "card" }, make("h2", {}, "Links"), ...groups)];
}

/** @param {Place} place @param {string} id @param {any} target null when it is not in the archive at this patch, undefined when it was not read @param {string} version */
function linkItem(place, id, target, version) {
  if (target === null)
    return make(
      "li",
      { class: "quiet", title: id },
      iconNode(null, nameOfId(id), 32),
      nameOfId(id),
    );
  const { icon = null, name = nameOfId(id) } = target ?? {};
  return make(
    "li",
    {},
    iconNode(icon, name, 32),
    make("a", { href: place.page(id, { at: version }), title: id }, name),
  );
}

/** Pictures and sounds other than the icon. @param {any} entity */
export function mediaCard(entity) {
  const others = entity.assets.filter((/** @type {any} */ asset) => asset.role !== "icon");
  if (others.length === 0) return [];
  const items = others.map((/** @type {any} */ asset) =>
    make(
      "figure",
      {},
      mediaNode(asset),
      make("figcaption", { class: "quiet small" }, readable(asset.role)),
    ),
  );
  return [make("section", { class: "card media" }, make("h2", {}, "Media"), ...items)];
}

/** @param {any} asset */
function mediaNode({ url, media_type: type, role }) {
  if (type.startsWith("image/"))
    return make("img", { src: url, alt: readable(role), loading: "lazy", width: 240, height: 240 });
  if (type.startsWith("audio/"))
    return make("audio", { src: url, controls: true, preload: "none" });
  return make("a", { href: url }, type);
}
