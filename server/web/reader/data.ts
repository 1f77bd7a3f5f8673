import { entryView } from "./data-entry.ts";
import { homeView } from "./data-home.ts";
import { listView } from "./data-list.ts";
import { readPlace } from "./data-place.ts";
import { resourceOf } from "./data-resources.ts";
import { emptyCard, segmentsHere, showPage } from "./page.ts";

const [path, id] = segmentsHere();

async function view(): Promise<Node[]> {
  const place = readPlace();
  if (path === undefined) return homeView(place);
  const resource = resourceOf(path);
  if (resource === null) return [emptyCard("There is no such list", "All lists are under Data.")];
  return id === undefined ? listView(place, resource) : entryView(place, resource, id);
}

void showPage(view, {
  "projection:not_found": ["It is not there", "Not by this id, or not at this patch."],
  "projection:type_mismatch": ["It is not there", "The id does not belong to this list."],
  "codex:patch_not_found": ["There is no such patch", "Choose another one."],
});
