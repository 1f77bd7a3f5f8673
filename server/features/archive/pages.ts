import Type from "typebox";
import type { PageDeps } from "../pages/deps.ts";
import { routesWith, type Route } from "../../http/pipeline/route.ts";
import { readerReply, readerRoute } from "../pages/reader-page.ts";

const defineRoute = routesWith<PageDeps>();
const lead = "Every state a game's data ever had, patch by patch.";

// The head has the games and their feeds, where feed readers look; the script fetches all else.
const gamesPage = defineRoute({
  ...readerRoute,
  path: "/codex",
  summary: "Browse the archive: games",
  handler: () => readerReply({ section: "codex", title: "Codex", description: lead }),
});

const Game = { game: Type.String() };
const query = Type.Object({ branch: Type.String({ default: "main" }) });

const gamePage = defineRoute({
  ...readerRoute,
  path: "/codex/{game}",
  summary: "Browse the archive: a game",
  params: Type.Object(Game),
  query,
  handler: async ({ params, query: { branch }, deps }) => gameReply(deps, params.game, branch),
});

const patchesPage = defineRoute({
  ...readerRoute,
  path: "/codex/{game}/patches",
  summary: "Browse the archive: the patches of a game",
  params: Type.Object(Game),
  query,
  handler: async ({ params, query: { branch }, deps }) =>
    gameReply(deps, params.game, branch, "Patches"),
});

const patchPage = defineRoute({
  ...readerRoute,
  path: "/codex/{game}/patches/{version}",
  summary: "Browse the archive: the notes of a patch",
  params: Type.Object({ ...Game, version: Type.String() }),
  query,
  handler: async ({ params, query: { branch }, deps }) =>
    gameReply(deps, params.game, branch, params.version),
});

const thingPage = defineRoute({
  ...readerRoute,
  path: "/codex/{game}/{thing}",
  summary: "Browse the archive: the entities of a type, or one of them",
  params: Type.Object({ ...Game, thing: Type.String() }),
  query,
  handler: async ({ params, query: { branch }, deps }) =>
    gameReply(deps, params.game, branch, params.thing),
});

/** Pages of the archive; each entity has its own address. */
export const codexPages: Route<PageDeps>[] = [
  gamesPage,
  gamePage,
  patchesPage,
  patchPage,
  thingPage,
];

async function gameReply(deps: PageDeps, slug: string, branch: string, part?: string) {
  const game = (await deps.archive.games()).get(slug);
  if (!game?.branches.has(branch))
    return readerReply({ section: "codex", title: "Not found", description: lead }, 404);
  const asked = branch === "main" ? "" : `?branch=${encodeURIComponent(branch)}`;
  const feed = {
    href: `/codex/${slug}/changelog.atom${asked}`,
    title: `${game.displayName}: patches`,
  };
  const title = part === undefined ? game.displayName : `${part} · ${game.displayName}`;
  return readerReply({ section: "codex", title, description: lead, feed });
}
