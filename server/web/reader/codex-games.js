import { placeLine, placeOf, readGame } from "./codex-place.js";
import { ask, emptyCard, make, setTitle } from "./page.js";
import { iconNode, patchDay, tallyOf } from "./pieces.js";
import { count, counted, plural, readable } from "./words.js";

/** Games whose contents are counted on the first page. */
const maxCounted = 24;
/** Patches shown on the page of a game. */
const newestPatches = 8;

/** What the archive holds: a card per game. */
export async function gamesView() {
  const { games } = await ask("/v1/codex/games");
  setTitle("Codex");
  const head = make(
    "header",
    { class: "head" },
    make("h1", {}, "Codex"),
    make("p", { class: "lead" }, "Every state a game's data ever had, patch by patch."),
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
  const cards = games.map((/** @type {any} */ game, /** @type {number} */ index) =>
    gameCard(game, totals[index]),
  );
  return [head, make("ul", { class: "cards plain" }, ...cards)];
}

/** @param {any} game @param {number} index */
async function totalOf(game, index) {
  if (index >= maxCounted) return null;
  return placeOf(game.slug)
    .ask("manifest", { branch: undefined })
    .catch(() => null);
}

/** @param {any} game @param {any} manifest */
function gameCard(game, manifest) {
  const { current_patch: patch, branches } = game;
  const types = manifest ? Object.keys(manifest.types).length : 0;
  return make(
    "li",
    { class: "card game-card" },
    iconNode(null, game.display_name, 64),
    make(
      "div",
      {},
      make("h2", {}, make("a", { href: `/codex/${game.slug}` }, game.display_name)),
      patch && make("p", { class: "quiet" }, `Patch ${patch.version_raw} · ${patchDay(patch)}`),
      manifest &&
        make(
          "p",
          {},
          `${counted(manifest.total, "entry", "entries")} of ${counted(types, "type")}`,
          branches.length > 1 && ` · ${counted(branches.length, "branch", "branches")}`,
        ),
    ),
  );
}

/** A game: its types with their counts, and what its newest patches did. @param {import("./codex-place.js").Place} place */
export async function gameView(place) {
  const [game, manifest, { patches }] = await Promise.all([
    readGame(place),
    place.ask("manifest"),
    place.ask("patches"),
  ]);
  setTitle(game.display_name);
  const { patch, types, total } = manifest;
  const names = Object.keys(types).sort();
  const head = make(
    "header",
    { class: "head hero-head" },
    iconNode(null, game.display_name, 64),
    make(
      "div",
      {},
      make("h1", {}, game.display_name),
      make(
        "p",
        { class: "lead" },
        patch ? `Patch ${patch.version_raw} · ${patchDay(patch)} · ` : "",
        counted(total, "entry", "entries"),
      ),
    ),
  );
  const tiles = names.map((type) =>
    make(
      "li",
      {},
      make(
        "a",
        { class: "tile", href: place.page(type) },
        make("strong", {}, count(types[type])),
        make("span", {}, types[type] === 1 ? readable(type) : plural(type)),
      ),
    ),
  );
  const contents = make(
    "section",
    { "aria-labelledby": "types" },
    make("h2", { id: "types" }, "Contents"),
    names.length === 0
      ? emptyCard("This branch is empty", "Its newest patch has no entities.")
      : make("ul", { class: "tiles plain" }, ...tiles),
  );
  return [
    placeLine(place, game, []),
    head,
    make("div", { class: "with-side" }, contents, newest(place, patches)),
  ];
}

/** @param {import("./codex-place.js").Place} place @param {any[]} patches */
function newest(place, patches) {
  const rows = patches.slice(0, newestPatches).map((patch) => patchRow(place, patch));
  return make(
    "aside",
    { class: "card", "aria-labelledby": "newest" },
    make("h2", { id: "newest" }, "Patches"),
    make("ol", { class: "plain patch-list" }, ...rows),
    make(
      "p",
      { class: "row" },
      make("a", { href: place.patches }, `All ${count(patches.length)}`),
      make("a", { href: place.feed, type: "application/atom+xml" }, "Atom feed"),
    ),
  );
}

/** A patch as a line: version, day, what it did. @param {import("./codex-place.js").Place} place @param {any} patch */
export function patchRow(place, patch) {
  return make(
    "li",
    {},
    make("a", { href: place.patch(patch.version) }, patch.version_raw),
    make("span", { class: "quiet" }, patchDay(patch)),
    tallyOf(patch),
  );
}
