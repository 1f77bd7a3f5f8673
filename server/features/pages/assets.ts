import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { asset } from "../../platform/assets.ts";

/** A file as it is sent; read on first use and kept, since the lists below bound them. */
export interface Asset {
  type: string;
  bytes: Uint8Array;
  etag: string;
}

const own = asset("server/web");
const reader = join(own, "reader");
const swagger = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

/** Without the charset browsers read the scripts of the documentation page as Latin-1. */
const types = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

type Name = `${string}.${keyof typeof types}`;

/** Every file that can be asked for, so that no path of a request ever reaches the disk. */
const folders: Readonly<Record<Name, string>> = {
  "home.html": own,
  "docs.html": own,
  "play.html": own,
  "plain.html": own,
  "inbox.html": own,
  "inbox.css": own,
  "inbox.js": own,
  "icon.svg": own,
  "reset-password.js": own,
  "consent.js": own,
  "base.css": own,
  "home.css": own,
  "home.js": own,
  "docs.css": own,
  "docs.js": own,
  "play.css": own,
  "play.js": own,
  "fair-play.js": own,
  "watch.js": own,
  "share.js": own,
  "game.js": own,
  "connection.js": own,
  "dom.js": own,
  "room.js": own,
  "seen.js": own,
  "kept-seats.js": own,
  "tab.js": own,
  "question.js": own,
  "views.js": own,
  "codex-columns.js": reader,
  "codex-entity.js": reader,
  "codex-filter-bar.js": reader,
  "codex-filters.js": reader,
  "codex-games.js": reader,
  "codex-list.js": reader,
  "codex-patches.js": reader,
  "codex-place.js": reader,
  "codex-state-cards.js": reader,
  "codex-states.js": reader,
  "codex-timeline.js": reader,
  "codex.js": reader,
  "page.js": reader,
  "pieces.js": reader,
  "values.js": reader,
  "words.js": reader,
  "reader.css": reader,
  "reader-values.css": reader,
  "codex.css": reader,
  "data-attributes.js": reader,
  "data-entry.js": reader,
  "data-filter-panel.js": reader,
  "data-home.js": reader,
  "data-list.js": reader,
  "data-loot.js": reader,
  "data-names.js": reader,
  "data-place.js": reader,
  "data-quests.js": reader,
  "data-resources.js": reader,
  "data.css": reader,
  "data.js": reader,
  "reader-lists.css": reader,
  "swagger-ui.css": swagger,
  "swagger-ui-bundle.js": swagger,
};

const loaded = new Map<string, Asset>();

/** The file of this name, or null when there is none. */
export function readAsset(name: string): Asset | null {
  const known = loaded.get(name);
  if (known) return known;
  const folder = new Map(Object.entries(folders)).get(name);
  if (folder === undefined) return null;
  const ending = name.slice(name.lastIndexOf(".") + 1) as keyof typeof types;
  return keep(name, types[ending], readFileSync(join(folder, name)));
}

/** The typed client: as it is, to be copied, and without its types, for browsers. */
export function readClient(name: "emberline.ts" | "emberline.js"): Asset {
  const known = loaded.get(name);
  if (known) return known;
  const source = readFileSync(asset("server/web/client/emberline.ts"), "utf8");
  return name === "emberline.ts"
    ? keep(name, "text/plain; charset=utf-8", Buffer.from(source))
    : keep(name, types.js, Buffer.from(stripTypeScriptTypes(source)));
}

function keep(name: string, type: string, bytes: Uint8Array): Asset {
  const kept = { type, bytes, etag: `"${hash("sha1", bytes, "base64url")}"` };
  loaded.set(name, kept);
  return kept;
}
