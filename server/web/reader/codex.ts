import { EmberlineError } from "../client/emberline.ts";
import { entityView } from "./codex-entity.ts";
import { gamesView, gameView } from "./codex-games.ts";
import { listView } from "./codex-list.ts";
import { patchesView, patchView } from "./codex-patches.ts";
import { placeOf } from "./codex-place.ts";
import { segmentsHere, showPage } from "./page.ts";

const typeNotFound = "codex:type_not_found";

const refusals = {
  "codex:game_not_found": ["There is no such game", "The games of this archive are under Codex."],
  "codex:branch_not_found": ["This game has no such branch", "Choose one on the game's page."],
  [typeNotFound]: ["There is no such type", "All types are on the game's page."],
  "codex:patch_not_found": ["There is no such patch", "All patches are on the game's page."],
  "codex:entity_not_found": ["Nothing by this name", "It never existed on this branch."],
} as const;

/** Path segments of the API that are not types. */
const noTypes = ["manifest", "changelog", "diff"];

const [game, thing, version] = segmentsHere();

async function view(): Promise<Node[]> {
  if (game === undefined) return gamesView();
  const place = placeOf(game);
  if (thing === undefined) return gameView(place);
  if (noTypes.includes(thing))
    throw new EmberlineError(404, typeNotFound, "There is no such type.");
  if (thing !== "patches")
    return /^(?:id\.|Id_)/.test(thing) ? entityView(place, thing) : listView(place, thing);
  return version === undefined ? patchesView(place) : patchView(place, version);
}

void showPage(view, refusals);
