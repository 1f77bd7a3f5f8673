import { groupBy } from "./group-by.ts";
import type { Changelog, Manifest, Patch, PatchList } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { patchRow } from "./codex-games.ts";
import { placeLine, readGame, type Place } from "./codex-place.ts";
import { emptyCard, setTitle, type QueryValues } from "./page.ts";
import { changesTable, pageChooser, labelled, moreButton, patchDay, tally } from "./pieces.ts";
import { counted, nameOfId, plural } from "./words.ts";

/** Changelog entries per request. */
const pageSize = 100;

type Read = (cursor: number) => Promise<Changelog>;

/** All patches of a branch, newest first. */
export async function patchesView(place: Place): Promise<Node[]> {
  const [game, { patches }] = await Promise.all([readGame(place), place.ask<PatchList>("patches")]);
  setTitle(`Patches of ${game.display_name}`);
  const byYear = groupBy(patches, (patch) => (patch.released_at ?? patch.imported_at).slice(0, 4));
  const years = [...byYear].map(([year, some]) =>
    el(
      "section",
      { class: "card" },
      el("h2", {}, year),
      el("ol", { class: "plain patch-list" }, ...some.map((patch) => patchRow(place, patch))),
    ),
  );
  return [
    placeLine(place, game, [["Patches", null]]),
    el(
      "header",
      { class: "head split" },
      el("h1", {}, "Patches"),
      el("a", { class: "button", href: place.feed }, "Atom feed"),
    ),
    ...(patches.length === 0 ? [emptyCard("There is no patch yet")] : years),
  ];
}

/** The notes of a patch, generated from its changes. */
export async function patchView(place: Place, version: string): Promise<Node[]> {
  const asked = new URLSearchParams(location.search);
  const [from, type] = [asked.get("from") ?? undefined, asked.get("type") ?? undefined];
  const read: Read = (cursor) =>
    place.ask("changelog", { to: version, from, type, limit: pageSize, cursor });
  const [game, { patches }, manifest, log] = await Promise.all([
    readGame(place),
    place.ask<PatchList>("patches"),
    place.ask<Manifest>("manifest"),
    read(0),
  ]);
  // A type may be missing from the current manifest, because the patch removed it or the address is wrong.
  const known = [...Object.keys(manifest.types), ...Object.keys(log.types), type ?? []].flat();
  const types = [...new Set(known)].sort();
  const patch = patches.find((one) => one.id === log.to.id);
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

function headOf(patch: Patch | undefined, log: Changelog): HTMLElement {
  return el(
    "header",
    { class: "head" },
    el("h1", {}, `Patch ${log.to.version_raw}`),
    el(
      "p",
      { class: "lead" },
      patch ? `${patchDay(patch)} · ` : "",
      log.from === null ? "the first patch" : `since ${log.from.version_raw}`,
      " · ",
      tally(log.summary),
    ),
  );
}

interface Shown {
  patches: readonly Patch[];
  patch: Patch | undefined;
  log: Changelog;
  type: string | undefined;
  types: readonly string[];
}

function controls(place: Place, { patches, patch, log, type, types }: Shown): HTMLElement {
  const index = patches.findIndex((one) => one === patch);
  const [newer, older] = [patches[index - 1], patches[index + 1]];
  const go = (rest: QueryValues) =>
    location.assign(place.patch(log.to.version, { from: asked("from"), type, ...rest }));
  const asked = (name: string) => new URLSearchParams(location.search).get(name);
  const step = (one: Patch | undefined, text: string, rel: string) =>
    one ? el("a", { class: "button", rel, href: place.patch(one.version, { type }) }, text) : null;
  const since = patches.slice(index + 1).map((one) => [one.version, one.version_raw] as const);
  return el(
    "div",
    { class: "card controls" },
    since.length > 0
      ? labelled(
          "Compared with",
          pageChooser(since, log.from?.version ?? "", (chosen) =>
            go({ from: chosen === older?.version ? undefined : chosen }),
          ),
        )
      : null,
    labelled(
      "Type",
      pageChooser(
        [["", "all types"], ...types.map((one) => [one, plural(one)] as const)],
        type ?? "",
        (chosen) => go({ type: chosen }),
      ),
    ),
    el(
      "span",
      { class: "row" },
      step(older, `← ${older?.version_raw}`, "prev"),
      step(newer, `${newer?.version_raw} →`, "next"),
    ),
  );
}

/** Sections by type; later entries are added to them. */
function notes(place: Place, first: Changelog, read: Read): HTMLElement {
  const holder = el("div", { class: "notes" });
  const more = moreButton(async () => show(await read(cursor ?? 0)));
  let cursor = first.next;
  const show = (log: Changelog) => {
    for (const [type, group] of Object.entries(log.types))
      holder.append(typeSection(place, type, group, log));
    cursor = log.next;
    more.button.hidden = cursor === null;
    if (cursor !== null)
      more.button.textContent = `Show more of ${counted(log.count, "entry", "entries")}`;
  };
  show(first);
  return el("div", {}, holder, more.button, more.said);
}

type Group = Changelog["types"][string];
type Named = Pick<Group["added"][number], "id" | "name">;

function typeSection(
  place: Place,
  type: string,
  { added, changed, removed }: Group,
  log: Changelog,
): HTMLElement {
  const context = {
    addressOf: (id: string) => place.page(id, { at: log.to.version }),
  };
  const link = (one: Named, at: string | undefined) =>
    el("a", { href: place.page(one.id, { at }) }, one.name || nameOfId(one.id));
  const names = (some: readonly Named[], at: string | undefined) =>
    el("ul", { class: "inline names" }, ...some.map((one) => el("li", {}, link(one, at))));
  const entries = changed.map((one) =>
    el(
      "article",
      { class: "entry" },
      el("h4", {}, link(one, log.to.version)),
      changesTable(one.changes, context),
    ),
  );
  const part = (kind: string, some: readonly Named[], word: string, nodes: Node[]) =>
    some.length > 0
      ? el("div", { class: `part ${kind}` }, el("h3", {}, counted(some.length, word, word)), nodes)
      : null;
  return el(
    "section",
    { class: "card" },
    el("h2", {}, el("a", { class: "plain-link", href: place.page(type) }, plural(type))),
    part("added", added, "new", [names(added, log.to.version)]),
    part("changed", changed, "changed", entries),
    part("removed", removed, "removed", [names(removed, log.from?.version)]),
  );
}
