import { placeLine, readManifest } from "./data-place.js";
import { groups } from "./data-resources.js";
import { emptyCard, make, setTitle } from "./page.js";
import { patchDay } from "./pieces.js";
import { count, readable } from "./words.js";

/** All lists in their groups, with how much is in them. @param {import("./data-place.js").Place} place */
export async function homeView(place) {
  const manifest = await readManifest();
  setTitle("Data");
  const head = make(
    "header",
    { class: "head" },
    make("h1", {}, manifest?.name ?? "Data"),
    make(
      "p",
      { class: "lead" },
      manifest
        ? `As of patch ${manifest.patch.version_raw}, ${patchDay(manifest.patch)}.`
        : "Items, quests, monsters and all else of one game.",
    ),
  );
  if (manifest === null) return [placeLine(place, null, []), head, noData()];
  const sections = groups.map(([title, resources]) =>
    make(
      "section",
      {},
      make("h2", {}, title),
      make(
        "ul",
        { class: "tiles plain" },
        ...resources.map(({ path, type }) =>
          make(
            "li",
            {},
            make(
              "a",
              { class: "tile", href: place.page(path) },
              make("strong", {}, count(manifest.types[type] ?? 0)),
              make("span", {}, readable(path)),
            ),
          ),
        ),
      ),
    ),
  );
  return [placeLine(place, manifest, []), head, ...sections];
}

export const noData = () =>
  emptyCard("There is no data yet", "It appears here when the projected game was imported.");
