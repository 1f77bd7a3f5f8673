import { entityView } from "./codex-entity.js";
import { gamesView, gameView } from "./codex-games.js";
import { listView } from "./codex-list.js";
import { patchesView, patchView } from "./codex-patches.js";
import { Refusal, segmentsHere, showPage } from "./page.js";
import { placeOf } from "./codex-place.js";

const refusals = /** @type {const} */ ({
  "codex:game_not_found": ["There is no such game", "The games of this archive are under Codex."],
  "codex:branch_not_found": ["This game has no such branch", "Choose one on the game's page."],
  "codex:type_not_found": ["There is no such type", "All types are on the game's page."],
  "codex:patch_not_found": ["There is no such patch", "All patches are on the game's page."],
  "codex:entity_not_found": ["Nothing by this name", "It never existed on this branch."],
});

/** What the interface has beside types at the same place of an address. */
const noTypes = ["manifest", "changelog", "diff"];

const [game, thing, version] = segmentsHere();

function view() {
  if (game === undefined) return gamesView();
  const place = placeOf(game);
  if (thing === undefined) return gameView(place);
  if (noTypes.includes(thing)) throw new Refusal(404, "codex:type_not_found");
  if (thing !== "patches")
    return /^(?:id\.|Id_)/.test(thing) ? entityView(place, thing) : listView(place, thing);
  return version === undefined ? patchesView(place) : patchView(place, version);
}

void showPage(view, /** @type {any} */ (refusals));
