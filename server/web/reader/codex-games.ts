import type { Game, GameList, Manifest, Patch, PatchList } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { placeLine, placeOf, readGame, type Place } from "./codex-place.ts";
import { ask, emptyCard, setTitle } from "./page.ts";
import { iconNode, patchDay, tallyOf } from "./pieces.ts";
import { count, counted, plural, readable } from "./words.ts";

/** Maximum number of games whose entities are counted on the first page. */
const maxCounted = 24;
/** Patches shown on the page of a game. */
const newestPatches = 8;

/** The first page of the archive: a card per game. */
export async function gamesView(): Promise<Node[]> {
  const { games } = await ask<GameList>("/v1/codex/games");
  setTitle("Codex");
  const head = el(
    "header",
    { class: "head" },
    el("h1", {}, "Codex"),
    el("p", { class: "lead" }, "Every state a game's data ever had, patch by patch."),
  );
  if (games.length === 0)
    return [
      head,
      emptyCard(
        "There is no data yet",
        "Games appear here after a first import: npm run import -- --envelope <file>",
      ),
    ];
  const totals = await Promise.all(games.map(totalOf));
  const cards = games.map((game, index) => gameCard(game, totals[index] ?? null));
  return [head, el("ul", { class: "cards plain" }, ...cards)];
}

async function totalOf(game: Game, index: number): Promise<Manifest | null> {
  if (index >= maxCounted) return null;
  return placeOf(game.slug)
    .ask<Manifest>("manifest", { branch: undefined })
    .catch(() => null);
}

function gameCard(game: Game, manifest: Manifest | null): HTMLElement {
  const { current_patch: patch, branches } = game;
  const types = manifest ? Object.keys(manifest.types).length : 0;
  return el(
    "li",
    { class: "card game-card" },
    iconNode(null, game.display_name, 64),
    el(
      "div",
      {},
      el("h2", {}, el("a", { href: `/codex/${game.slug}` }, game.display_name)),
      patch ? el("p", { class: "quiet" }, `Patch ${patch.version_raw} · ${patchDay(patch)}`) : null,
      manifest
        ? el(
            "p",
            {},
            `${counted(manifest.total, "entry", "entries")} of ${counted(types, "type")}`,
            branches.length > 1 ? ` · ${counted(branches.length, "branch", "branches")}` : null,
          )
        : null,
    ),
  );
}

/** The page of a game: its types with counts, and its newest patches. */
export async function gameView(place: Place): Promise<Node[]> {
  const [game, manifest, { patches }] = await Promise.all([
    readGame(place),
    place.ask<Manifest>("manifest"),
    place.ask<PatchList>("patches"),
  ]);
  setTitle(game.display_name);
  const { patch, types, total } = manifest;
  const counts = Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1));
  const head = el(
    "header",
    { class: "head hero-head" },
    iconNode(null, game.display_name, 64),
    el(
      "div",
      {},
      el("h1", {}, game.display_name),
      el(
        "p",
        { class: "lead" },
        patch ? `Patch ${patch.version_raw} · ${patchDay(patch)} · ` : "",
        counted(total, "entry", "entries"),
      ),
    ),
  );
  const tiles = counts.map(([type, times]) =>
    el(
      "li",
      {},
      el(
        "a",
        { class: "tile", href: place.page(type) },
        el("strong", {}, count(times)),
        el("span", {}, times === 1 ? readable(type) : plural(type)),
      ),
    ),
  );
  const contents = el(
    "section",
    { "aria-labelledby": "types" },
    el("h2", { id: "types" }, "Contents"),
    counts.length === 0
      ? emptyCard("This branch is empty", "Its newest patch has no entities.")
      : el("ul", { class: "tiles plain" }, ...tiles),
  );
  return [
    placeLine(place, game, []),
    head,
    el("div", { class: "with-side" }, contents, newest(place, patches)),
  ];
}

function newest(place: Place, patches: readonly Patch[]): HTMLElement {
  const rows = patches.slice(0, newestPatches).map((patch) => patchRow(place, patch));
  return el(
    "aside",
    { class: "card", "aria-labelledby": "newest" },
    el("h2", { id: "newest" }, "Patches"),
    el("ol", { class: "plain patch-list" }, ...rows),
    el(
      "p",
      { class: "row" },
      el("a", { href: place.patches }, `All ${count(patches.length)}`),
      el("a", { href: place.feed, type: "application/atom+xml" }, "Atom feed"),
    ),
  );
}

/** A patch as a row: version, date, changes. */
export function patchRow(place: Place, patch: Patch): HTMLElement {
  return el(
    "li",
    {},
    el("a", { href: place.patch(patch.version) }, patch.version_raw),
    el("span", { class: "quiet" }, patchDay(patch)),
    tallyOf(patch),
  );
}
