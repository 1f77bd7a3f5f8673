import { reply, routesWith } from "../../http/pipeline/route.ts";
import { searchPath } from "../layout.ts";
import { onlyFound, searchPage } from "./page.ts";
import { SearchBody, SearchInput } from "./schemas.ts";
import { searchAll, type SearchSource } from "./search.ts";

export interface SearchDeps {
  searchSources: readonly SearchSource[];
}

const defineRoute = routesWith<SearchDeps>();

/** One field for everything. By POST: what operators search may be personal, and addresses of pages are logged by others. */
export const searchRoutes = [
  defineRoute({
    method: "POST",
    path: searchPath,
    tag: "Operator",
    summary: "Find players, rooms, jobs, requests and more by an exact id, code, name or address",
    auth: "viewer",
    source: "OPS-70",
    body: SearchInput,
    page: searchPage,
    pageAfter: onlyFound,
    responses: { 200: SearchBody },
    errors: [],
    handler: async ({ deps: { searchSources }, body }) =>
      reply(200, await searchAll(searchSources, body.q)),
  }),
];
