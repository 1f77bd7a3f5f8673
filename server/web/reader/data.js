import { entryView } from "./data-entry.js";
import { homeView } from "./data-home.js";
import { listView } from "./data-list.js";
import { readPlace } from "./data-place.js";
import { resourceOf } from "./data-resources.js";
import { emptyCard, segmentsHere, showPage } from "./page.js";

const [path, id] = segmentsHere();

async function view() {
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
