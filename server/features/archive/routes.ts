import { encodedReply, routesWith, type Route } from "../../http/pipeline/route.ts";
import { readEntity, readHistory, readManifest, readRels } from "./entities.ts";
import { readFilters } from "./filters.ts";
import { readList } from "./lists.ts";
import { finishedBody, patchOf, placeOf, presentKey } from "./places.ts";
import { presentGame, presentPatch } from "./present.ts";
import { comparisonRoutes } from "./comparison-routes.ts";
import * as s from "./schemas.ts";
import { answer, base, gameErrors, publicRead } from "./reading.ts";
import type { ArchiveDeps } from "./deps.ts";

const defineRoute = routesWith<ArchiveDeps>();

const listGames = defineRoute({
  ...publicRead,
  path: `${base}/games`,
  summary: "List the games of the archive",
  source: "document 3, part A; COD-01",
  responses: { 200: s.GameList },
  errors: [],
  handler: async ({ deps: { archive } }) => {
    const games = await archive.games();
    const list = [...games.values()];
    const key = `games ${list.map((game) => `${game.id}.${game.generation}`).join(" ")}`;
    const make = async () => finishedBody(JSON.stringify({ games: list.map(presentGame) }));
    return answer(archive.bodies.fetch(key, make));
  },
});

const showManifest = defineRoute({
  ...publicRead,
  path: `${base}/{game}/manifest`,
  summary: "Count the entities of a branch by type",
  source: "document 3, part A; COD-02",
  params: s.GameParams,
  query: s.BranchQuery,
  responses: { 200: s.Manifest },
  errors: gameErrors,
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const key = presentKey(place, "manifest");
    return answer(archive.bodies.fetch(key, () => readManifest(archive, place)));
  },
});

const listPatches = defineRoute({
  ...publicRead,
  path: `${base}/{game}/patches`,
  summary: "List the patches of a branch, newest first",
  source: "document 3, part A; COD-02, COD-15",
  params: s.GameParams,
  query: s.BranchQuery,
  responses: { 200: s.PatchList },
  errors: gameErrors,
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const make = async () => {
      const patches = place.branch.patches.map(presentPatch).reverse();
      return finishedBody(JSON.stringify({ patches }));
    };
    return answer(archive.bodies.fetch(presentKey(place, "patches"), make));
  },
});

const showPatch = defineRoute({
  ...publicRead,
  path: `${base}/{game}/patches/{version}`,
  summary: "Get one patch by its canonical or raw version",
  source: "document 3, part A; COD-02, COD-13, COD-15",
  params: s.VersionParams,
  notFoundCode: "codex:patch_not_found",
  query: s.BranchQuery,
  responses: { 200: s.OnePatch },
  errors: [...gameErrors, "codex:patch_not_found"],
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const { branch } = placeOf(games, params.game, query.branch);
    const patch = presentPatch(patchOf(branch, params.version));
    return encodedReply(200, JSON.stringify({ patch }));
  },
});

const listEntities = defineRoute({
  ...publicRead,
  path: `${base}/{game}/{type}`,
  summary: "List the entities of a type, filtered by `filter[<path>][:<op>]=<value>` and `q`",
  source: "document 3, part A, Filter grammar; COD-03, COD-17, COD-18",
  params: s.TypeParams,
  notFoundCode: "codex:entity_not_found",
  query: s.ListQuery,
  responses: { 200: s.EntityList },
  errors: [
    ...gameErrors,
    "codex:filter_path_invalid",
    "codex:filter_op_invalid",
    "codex:filter_not_numeric",
  ],
  handler: async ({ params, query, deps: { archive }, request }) => {
    const games = await archive.games();
    const { branch, limit, cursor, q = "" } = query;
    const filters = readFilters(request.query);
    const place = placeOf(games, params.game, branch);
    const { type } = params;
    const key = presentKey(place, "list", type, limit, cursor, q, JSON.stringify(filters));
    const make = () => readList(archive, place, { type, filters, q, limit, cursor });
    return answer(archive.bodies.fetch(key, make));
  },
});

const showEntity = defineRoute({
  ...publicRead,
  path: `${base}/{game}/{id}`,
  rare: { segments: { id: /^(?:id\.|Id_)/ } },
  summary: "Get an entity as it is now or at a patch",
  source: "document 3, part A; COD-05, COD-06, COD-13, COD-16",
  params: s.EntityParams,
  notFoundCode: "codex:entity_not_found",
  query: s.EntityQuery,
  responses: { 200: s.Entity },
  errors: [...gameErrors, "codex:patch_not_found", "codex:entity_not_found"],
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const rels = readRels(query.hydrate);
    const place = placeOf(games, params.game, query.branch);
    const { at_patch: version } = query;
    const patch = version === undefined ? null : patchOf(place.branch, version);
    const { id } = params;
    const key = presentKey(place, "entity", id, patch?.id ?? 0, ...rels);
    const make = () => readEntity(archive, place, { id, patch, rels });
    return answer(archive.bodies.fetch(key, make));
  },
});

const showHistory = defineRoute({
  ...publicRead,
  path: `${base}/{game}/{id}/history`,
  summary: "List every change of an entity, oldest first",
  source: "document 3, part A; COD-04, COD-10",
  params: s.EntityParams,
  notFoundCode: "codex:entity_not_found",
  query: s.BranchQuery,
  responses: { 200: s.History },
  errors: [...gameErrors, "codex:entity_not_found"],
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const key = presentKey(place, "history", params.id);
    const make = () => readHistory(archive, place, params.id);
    return answer(archive.bodies.fetch(key, make));
  },
});

export const codexRoutes: Route<ArchiveDeps>[] = [
  listGames,
  showManifest,
  listPatches,
  showPatch,
  listEntities,
  showEntity,
  showHistory,
  ...comparisonRoutes,
];
