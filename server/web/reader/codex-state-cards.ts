import { groupBy } from "./group-by.ts";
import type { Entity, HydratedEntity } from "../generated/answers.ts";
import { el } from "../dom.ts";
import type { Place } from "./codex-place.ts";
import type { State, Step } from "./codex-states.ts";
import { changesTable, iconNode } from "./pieces.ts";
import { factsNode, type Context } from "./values.ts";
import { nameOfId, readable } from "./words.ts";

function contextOf(place: Place, { step, change }: State) {
  return {
    addressOf: (id: string) => place.page(id, { at: step.version }),
    changed: new Set(change?.changes?.map(({ path }) => path)),
  } satisfies Context;
}

/** Differences from the compared state; null for the first state. */
export function differences(place: Place, state: State): HTMLElement | null {
  const { change, other } = state;
  if (change === null || other === null || change.op === "removed") return null;
  if (change.op !== "changed") {
    const text =
      change.op === "added" ? `It was not there in ${other.raw}.` : `The same as in ${other.raw}.`;
    return el("p", { class: "card quiet" }, text);
  }
  const { addressOf } = contextOf(place, state);
  return el(
    "section",
    { class: "card diff" },
    el("h2", {}, "Differences ", el("small", { class: "quiet" }, `since ${other.raw}`)),
    changesTable(change.changes ?? [], { addressOf }),
  );
}

/** The data as tables and as raw JSON. */
export function dataCard(place: Place, state: State, { data }: Entity): HTMLElement {
  const json = el("pre", { tabIndex: 0 });
  const raw = el(
    "details",
    { ontoggle: () => (json.textContent ||= JSON.stringify(data, null, 2)) },
    el("summary", {}, "As JSON"),
    json,
  );
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "Data"),
    factsNode(data, contextOf(place, state), "data"),
    raw,
  );
}

/** Links by relation. */
export function linksCard(
  place: Place,
  { links, hydrated = {} }: HydratedEntity,
  { version }: Step,
): HTMLElement | null {
  if (links.length === 0) return null;
  const byRel = groupBy(links, ({ rel }) => rel);
  const groups = [...byRel].flatMap(([rel, some]) => {
    const found = Object.hasOwn(hydrated, rel) ? [hydrated[rel]].flat() : [];
    const items = some.map(({ target }, index) => linkItem(place, target, found[index], version));
    return [el("h3", {}, readable(rel)), el("ul", { class: "plain link-list" }, ...items)];
  });
  return el("section", { class: "card" }, el("h2", {}, "Links"), ...groups);
}

/** A target is null if it is not in the archive at this patch, undefined if it was not read. */
function linkItem(
  place: Place,
  id: string,
  target: Entity | null | undefined,
  version: string,
): HTMLElement {
  if (target === null)
    return el("li", { class: "quiet", title: id }, iconNode(null, nameOfId(id), 32), nameOfId(id));
  const { icon = null, name = nameOfId(id) } = target ?? {};
  return el(
    "li",
    {},
    iconNode(icon, name, 32),
    el("a", { href: place.page(id, { at: version }), title: id }, name),
  );
}

/** Pictures and sounds other than the icon. */
export function mediaCard({ assets }: Entity): HTMLElement | null {
  const others = assets.filter(({ role }) => role !== "icon");
  if (others.length === 0) return null;
  const items = others.map((asset) =>
    el(
      "figure",
      {},
      mediaNode(asset),
      el("figcaption", { class: "quiet small" }, readable(asset.role)),
    ),
  );
  return el("section", { class: "card media" }, el("h2", {}, "Media"), ...items);
}

function mediaNode({ url, media_type: type, role }: Entity["assets"][number]): HTMLElement {
  if (type.startsWith("image/"))
    return el("img", { src: url, alt: readable(role), loading: "lazy", width: 240, height: 240 });
  if (type.startsWith("audio/")) return el("audio", { src: url, controls: true, preload: "none" });
  return el("a", { href: url }, type);
}
