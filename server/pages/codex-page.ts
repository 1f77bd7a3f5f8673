import Type from "typebox";
import type { Deps } from "../deps.ts";
import { bytesReply, defineRoute, media, type AnyRoute } from "../http/route.ts";
import { readerHtml, readerPolicy, type ReaderPage } from "./reader-page.ts";

const type = "text/html; charset=utf-8";
const lead = "Every state a game's data ever had, patch by patch.";

/** Names of games and their feeds are in the head, where feed readers look; all else the script reads. */
const shared = {
  method: "GET",
  tag: "Pages",
  auth: "public",
  source: "our own page",
  cache: "no-cache",
  errors: [],
  responses: { 200: media(type), 404: media(type) },
} as const;

const gamesPage = defineRoute({
  ...shared,
  path: "/codex",
  summary: "Browse the archive: games",
  handler: () => pageReply({ section: "codex", title: "Codex", description: lead }),
});

const Game = { game: Type.String() };
const query = Type.Object({ branch: Type.String({ default: "main" }) });

const gamePage = defineRoute({
  ...shared,
  path: "/codex/{game}",
  summary: "Browse the archive: a game",
  params: Type.Object(Game),
  query,
  handler: async ({ params, query: { branch }, deps }) => gameReply(deps, params.game, branch),
});

const patchesPage = defineRoute({
  ...shared,
  path: "/codex/{game}/patches",
  summary: "Browse the archive: the patches of a game",
  params: Type.Object(Game),
  query,
  handler: async ({ params, query: { branch }, deps }) =>
    gameReply(deps, params.game, branch, "Patches"),
});

const patchPage = defineRoute({
  ...shared,
  path: "/codex/{game}/patches/{version}",
  summary: "Browse the archive: the notes of a patch",
  params: Type.Object({ ...Game, version: Type.String() }),
  query,
  handler: async ({ params, query: { branch }, deps }) =>
    gameReply(deps, params.game, branch, params.version),
});

const thingPage = defineRoute({
  ...shared,
  path: "/codex/{game}/{thing}",
  summary: "Browse the archive: the entities of a type, or one of them",
  params: Type.Object({ ...Game, thing: Type.String() }),
  query,
  handler: async ({ params, query: { branch }, deps }) =>
    gameReply(deps, params.game, branch, params.thing),
});

/** Pages of the archive for readers; each address is one of what it shows. */
export const codexPages: AnyRoute[] = [gamesPage, gamePage, patchesPage, patchPage, thingPage];

async function gameReply(deps: Deps, slug: string, branch: string, part?: string) {
  const game = (await deps.archive.games()).get(slug);
  if (!game?.branches.has(branch))
    return pageReply({ section: "codex", title: "Not found", description: lead }, 404);
  const asked = branch === "main" ? "" : `?branch=${encodeURIComponent(branch)}`;
  const feed = {
    href: `/codex/${slug}/changelog.atom${asked}`,
    title: `${game.displayName}: patches`,
  };
  const title = part === undefined ? game.displayName : `${part} · ${game.displayName}`;
  return pageReply({ section: "codex", title, description: lead, feed });
}

function pageReply(page: ReaderPage, status: 200 | 404 = 200) {
  return bytesReply(status, type, readerHtml(page), [
    ["Content-Security-Policy", readerPolicy],
    ["Referrer-Policy", "no-referrer"],
  ]);
}
