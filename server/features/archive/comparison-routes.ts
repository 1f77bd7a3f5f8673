import { bytesReply, routesWith, media, type Route } from "../../http/pipeline/route.ts";
import { serveAsset } from "./assets.ts";
import { checkChangelogInput, isMarkdown, readChangelog } from "./changelog.ts";
import { publicBaseUrl } from "../../platform/net/addresses.ts";
import { feedType, readFeed } from "./feed.ts";
import { inOrder, readDiff, readEntityDiff } from "./diffs.ts";
import { patchOf, placeOf, presentKey } from "./places.ts";
import { answer, base, gameErrors, publicRead } from "./reading.ts";
import * as s from "./schemas.ts";
import type { ArchiveDeps } from "./deps.ts";

const defineRoute = routesWith<ArchiveDeps>();
const rangeErrors = [...gameErrors, "codex:patch_not_found", "codex:diff_too_large"] as const;

const diffPatches = defineRoute({
  ...publicRead,
  path: `${base}/{game}/patches/{a}/diff/{b}`,
  summary: "Compare two patches",
  source: "document 3, part A; COD-08, COD-09, COD-13, COD-15",
  params: s.VersionPairParams,
  notFoundCode: "codex:patch_not_found",
  query: s.BranchQuery,
  responses: { 200: s.DiffDocument },
  errors: rangeErrors,
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const [a, b] = [patchOf(place.branch, params.a), patchOf(place.branch, params.b)];
    return answer(readDiff(archive, place, a, b));
  },
});

const diffGame = defineRoute({
  ...publicRead,
  path: `${base}/{game}/diff`,
  summary: "Compare a whole game between two versions",
  source: "document 3, part A; COD-08, COD-09, COD-12",
  params: s.GameParams,
  query: s.RangeQuery,
  responses: { 200: s.DiffDocument },
  errors: rangeErrors,
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const [a, b] = [patchOf(place.branch, query.from), patchOf(place.branch, query.to)];
    return answer(readDiff(archive, place, a, b));
  },
});

const diffEntity = defineRoute({
  ...publicRead,
  path: `${base}/{game}/diff/{id}`,
  summary: "Compare one entity between two versions",
  source: "document 3, part A; COD-07, COD-08, COD-09",
  params: s.EntityParams,
  notFoundCode: "codex:entity_not_found",
  query: s.RangeQuery,
  responses: { 200: s.EntityDiff },
  errors: [...gameErrors, "codex:patch_not_found"],
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const { branch } = place;
    const range = inOrder(patchOf(branch, query.from), patchOf(branch, query.to));
    const key = presentKey(place, "diff", params.id, range.from.id, range.to.id);
    const make = () => readEntityDiff(archive, place, params.id, range);
    return answer(archive.bodies.fetch(key, make));
  },
});

const showChangelog = defineRoute({
  ...publicRead,
  path: `${base}/{game}/changelog`,
  summary: "Read the changes of a patch, as JSON or as patch notes",
  source: "document 3, part A, Changelog query; COD-11, COD-12",
  cache: "public, max-age=300",
  params: s.GameParams,
  query: s.ChangelogQuery,
  rare: { otherForm: "text/markdown" },
  responses: { 200: s.Changelog },
  errors: [...gameErrors, "codex:patch_not_found", "codex:changelog_params"],
  handler: async ({ params, query, deps: { archive } }) => {
    const games = await archive.games();
    checkChangelogInput(query);
    const place = placeOf(games, params.game, query.branch);
    const body = readChangelog(archive, place, query);
    if (!isMarkdown(query.format)) return answer(body);
    const { content, etag } = await body;
    return bytesReply(200, "text/markdown; charset=utf-8", content, [["ETag", etag]]);
  },
});

/** Below the path of the pages, where feed readers expect it; no type has a dot in its name (COD-16). */
const showFeed = defineRoute({
  ...publicRead,
  path: "/codex/{game}/changelog.atom",
  summary: "The changelog of a branch as an Atom feed",
  source: "our own feed",
  cache: "public, max-age=300",
  params: s.GameParams,
  query: s.BranchQuery,
  responses: { 200: media("application/atom+xml") },
  errors: gameErrors,
  handler: async ({ params, query, deps: { archive, config } }) => {
    const games = await archive.games();
    const place = placeOf(games, params.game, query.branch);
    const { content, etag } = await readFeed(archive, place, publicBaseUrl(config));
    return bytesReply(200, feedType, content, [["ETag", etag]]);
  },
});

const showAsset = defineRoute({
  ...publicRead,
  path: `${base}/assets/{hash}`,
  summary: "Get the bytes of a picture or sound",
  source: "document 3, part A, asset response headers; COD-19",
  cache: "public, max-age=31536000, immutable",
  params: s.AssetParams,
  notFoundCode: "codex:asset_not_found",
  query: s.AssetQuery,
  responses: { 200: media("application/octet-stream"), 206: media("application/octet-stream") },
  errors: ["codex:asset_not_found", "request:range_unsatisfiable"],
  handler: ({ params, deps: { archive }, request }) => serveAsset(archive, params.hash, request),
});

export const comparisonRoutes: Route<ArchiveDeps>[] = [
  diffPatches,
  diffGame,
  diffEntity,
  showChangelog,
  showFeed,
  showAsset,
];
