import { Feed } from "feed";
import type { Archive, ArchiveBody } from "./domain/archive.ts";
import type { CodexPatch } from "../../../db/queries/archive/codex-directory.ts";
import { readPage, type WriteEntry } from "./changelog.ts";
import { escapeHtml, printable } from "../../platform/text/markup.ts";
import { changesHtml, entryHtml } from "./feed-text.ts";
import { finishedBody, presentKey, type Place } from "./places.ts";

/** Maximum patches in a feed, newest first. */
const maxPatches = 20;
/** Maximum entities of a patch in a feed. */
const maxEntries = 60;

export const feedType = "application/atom+xml; charset=utf-8";

/** The changelog of a branch as an Atom feed, an entry per patch; `base` is the public address of the service. */
export function readFeed(archive: Archive, place: Place, base: string) {
  const build = () => archive.builds.run(() => buildFeed(archive, place, base));
  return archive.bodies.fetch(presentKey(place, "feed", base), build);
}

async function buildFeed(archive: Archive, place: Place, base: string): Promise<ArchiveBody> {
  const { game, branch } = place;
  const home = `${base}/codex/${game.slug}`;
  const asked = branch.slug === "main" ? "" : `?branch=${encodeURIComponent(branch.slug)}`;
  const shown = branch.patches.slice(-maxPatches).reverse();
  const title = printable(game.displayName) + (asked === "" ? "" : ` (${branch.slug})`);
  const feed = new Feed({
    id: `${home}/changelog.atom${asked}`,
    title: `${title}: patches`,
    link: home + asked,
    feed: `${home}/changelog.atom${asked}`,
    updated: new Date(Math.max(0, ...shown.map((patch) => patch.importedAt))),
    author: { name: title },
    copyright: "",
    generator: "emberline",
  });
  for (const patch of shown) {
    const range = { from: branch.patches[branch.patches.indexOf(patch) - 1] ?? null, to: patch };
    const writeEntry: WriteEntry = (id, outcome) =>
      entryHtml(outcome, `${home}/${encodeURIComponent(id)}${asked}`);
    const input = { place, range, type: undefined, limit: maxEntries, cursor: 0, writeEntry };
    const page = await readPage(archive, input);
    const link = `${home}/patches/${encodeURIComponent(patch.version)}${asked}`;
    feed.addItem({
      ...datesOf(patch),
      title: escapeHtml(`${game.displayName} ${patch.versionRaw}`),
      id: link,
      link,
      content: changesHtml(page),
    });
  }
  return { ...finishedBody(feed.atom1()), type: feedType };
}

function datesOf({ importedAt, releasedAt }: CodexPatch) {
  const date = new Date(importedAt);
  return releasedAt === null ? { date } : { date, published: new Date(releasedAt) };
}
