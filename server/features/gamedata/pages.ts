import Type from "typebox";
import type { PageDeps } from "../pages/deps.ts";
import { routesWith, type Route } from "../../http/pipeline/route.ts";
import { readerReply, readerRoute } from "../pages/reader-page.ts";

const defineRoute = routesWith<PageDeps>();

const homePage = defineRoute({
  ...readerRoute,
  path: "/data",
  summary: "Browse the projected game: all lists",
  handler: ({ deps }) => dataReply(deps, "Data"),
});

const listPage = defineRoute({
  ...readerRoute,
  path: "/data/{list}",
  summary: "Browse the projected game: a list with filters and facets",
  params: Type.Object({ list: Type.String() }),
  handler: ({ params, deps }) => dataReply(deps, params.list),
});

const entryPage = defineRoute({
  ...readerRoute,
  path: "/data/{list}/{id}",
  summary: "Browse the projected game: one document, now or at a patch",
  params: Type.Object({ list: Type.String(), id: Type.String() }),
  handler: ({ params, deps }) => dataReply(deps, params.id),
});

/** Pages of the projection. */
export const dataPages: Route<PageDeps>[] = [homePage, listPage, entryPage];

function dataReply({ config }: PageDeps, title: string) {
  const description = "Items, quests, monsters and all else of one game.";
  return readerReply({ section: "data", title, description, game: config.GAME_DATA_GAME });
}
