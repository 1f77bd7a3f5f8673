import { el } from "../dom.ts";
import { placeLine, readManifest, type Place } from "./data-place.ts";
import { groups } from "./data-resources.ts";
import { emptyCard, setTitle } from "./page.ts";
import { patchDay } from "./pieces.ts";
import { count, readable } from "./words.ts";

/** All lists in their groups, with their number of rows. */
export async function homeView(place: Place): Promise<Node[]> {
  const manifest = await readManifest();
  setTitle("Data");
  const head = el(
    "header",
    { class: "head" },
    el("h1", {}, manifest?.name ?? "Data"),
    el(
      "p",
      { class: "lead" },
      manifest
        ? `As of patch ${manifest.patch.version_raw}, ${patchDay(manifest.patch)}.`
        : "Items, quests, monsters and all else of one game.",
    ),
  );
  if (manifest === null) return [placeLine(place, null, []), head, noData()];
  const sections = groups.map(([title, resources]) =>
    el(
      "section",
      {},
      el("h2", {}, title),
      el(
        "ul",
        { class: "tiles plain" },
        ...resources.map(({ path, type }) =>
          el(
            "li",
            {},
            el(
              "a",
              { class: "tile", href: place.page(path) },
              el("strong", {}, count(manifest.types[type] ?? 0)),
              el("span", {}, readable(path)),
            ),
          ),
        ),
      ),
    ),
  );
  return [placeLine(place, manifest, []), head, ...sections];
}

export const noData = (): HTMLElement =>
  emptyCard("There is no data yet", "It appears here when the projected game was imported.");
