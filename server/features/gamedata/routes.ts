import Type, { type TObject, type TSchema } from "typebox";
import type { ArchiveBody } from "../archive/domain/archive.ts";
import type { Resource, ResourceFilter } from "../../../db/projections/resource.ts";
import { resources } from "../../../db/projections/resources/index.ts";
import { AppError } from "../../platform/errors.ts";
import type { GameDataDeps } from "./deps.ts";
import { routesWith, encodedReply, type Route } from "../../http/pipeline/route.ts";
import { readDocument, readLabels, readList, findProjectedPlace } from "./reading.ts";

const defineRoute = routesWith<GameDataDeps>();

/** Both addresses of the projection; the second is the first without its realm. */
const bases = ["/v1/realms/{game_data_slug}", "/v2"] as const;

const publicRead = {
  method: "GET",
  tag: "Game data",
  auth: "public",
  cache: "public, max-age=60",
  publicData: true,
} as const;

const source = "document 3, part B";
const Locale = Type.Optional(Type.String({ description: "language, such as de or zh-Hans" }));
const AtPatch = Type.Optional(Type.String({ description: "refused: single documents only" }));

const describe: Readonly<Record<ResourceFilter["kind"], string>> = {
  equals: "one or several values, separated by commas; null finds rows without a value",
  archetype: "family, with or without id.<type>.; several separated by commas",
  like: "part of the text, ignoring case and, in names, accents, apostrophes and dots; * and % match any characters; refused as too short if the search takes over 120 ms",
  min: "at least",
  max: "at most",
};

/** Filters stay strings here: invalid ones have their own error code (PRJ-05). */
const listQuery = ({ filters }: Resource): TObject =>
  Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: Type.Optional(Type.String({ description: "next of the previous page" })),
    sort: Type.String({ default: "asc", description: "asc or desc, by id" }),
    locale: Locale,
    at_patch: AtPatch,
    ...Object.fromEntries(
      filters.map(({ parameter, kind }) => [
        parameter,
        Type.Optional(Type.String({ description: describe[kind] })),
      ]),
    ),
  });

const listOf = (row: TSchema) =>
  Type.Object({
    count: Type.Integer(),
    limit: Type.Integer(),
    sort: Type.Enum(["asc", "desc"]),
    next: Type.Unsafe<string | null>({ type: ["string", "null"] }),
    rows: Type.Array(row),
  });

const Facets = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()));
const RealmParams = Type.Object({ game_data_slug: Type.Optional(Type.String()) });
const DocumentParams = Type.Object({ ...RealmParams.properties, id: Type.String() });

/** The same paths under another realm are 404 (PRJ-01). */
function checkRealm({ config }: GameDataDeps, slug: string | undefined): void {
  if (slug !== undefined && slug !== config.GAME_DATA_REALM) throw new AppError("route:not_found");
}

async function answer(body: Promise<ArchiveBody>) {
  const { content, etag } = await body;
  return encodedReply(200, content, { etag, headers: [["Vary", "Accept-Encoding"]] });
}

function facetsRoute(base: string): Route<GameDataDeps> {
  return defineRoute({
    ...publicRead,
    path: `${base}/facets`,
    summary: "Label the values of every enumerated column",
    source: `${source}; PRJ-10`,
    params: RealmParams,
    query: Type.Object({ locale: Locale, at_patch: AtPatch }),
    responses: { 200: Facets },
    errors: ["route:not_found", "projection:at_patch_on_list"],
    handler: async ({ params, query, deps }) => {
      checkRealm(deps, params.game_data_slug);
      if (query.at_patch !== undefined) throw new AppError("projection:at_patch_on_list");
      const { archive, config } = deps;
      const place = await findProjectedPlace(archive, config.GAME_DATA_GAME);
      return answer(readLabels(archive, place, query.locale));
    },
  });
}

function listRoute(base: string, resource: Resource): Route<GameDataDeps> {
  const { path, row, filters } = resource;
  return defineRoute({
    ...publicRead,
    path: `${base}/${path}`,
    summary: `List ${path.replaceAll("_", " ")}`,
    source: `${source}; PRJ-05, PRJ-06, PRJ-12`,
    params: RealmParams,
    query: listQuery(resource),
    responses: { 200: listOf(row) },
    errors: ["route:not_found", "projection:at_patch_on_list", "projection:invalid_filter"],
    handler: async ({ params, query, deps }) => {
      checkRealm(deps, params.game_data_slug);
      const { limit, sort, ...texts } = query as { limit: number; sort: string };
      const asked = texts as Record<string, string | undefined>;
      if (asked["at_patch"] !== undefined) throw new AppError("projection:at_patch_on_list");
      const given = filters.flatMap(({ parameter }) =>
        asked[parameter] === undefined ? [] : [[parameter, asked[parameter]] as const],
      );
      const { archive, config } = deps;
      const place = await findProjectedPlace(archive, config.GAME_DATA_GAME);
      return answer(
        readList(archive, place, resource, {
          limit,
          sort,
          cursor: asked["cursor"] ?? null,
          locale: asked["locale"],
          parameters: Object.fromEntries(given),
        }),
      );
    },
  });
}

function documentRoute(base: string, segment: string, resource: Resource): Route<GameDataDeps> {
  return defineRoute({
    ...publicRead,
    path: `${base}/${segment}/{id}`,
    summary: `Read one ${resource.type.replaceAll("_", " ")}, now or at a patch`,
    source: `${source}; PRJ-03, PRJ-04, PRJ-12`,
    params: DocumentParams,
    notFoundCode: "projection:type_mismatch",
    query: Type.Object({
      locale: Locale,
      at_patch: Type.Optional(Type.String({ description: "canonical or raw version" })),
    }),
    responses: { 200: resource.document },
    errors: [
      "route:not_found",
      "projection:not_found",
      "projection:type_mismatch",
      "codex:patch_not_found",
    ],
    handler: async ({ params, query, deps }) => {
      checkRealm(deps, params.game_data_slug);
      const { archive, config } = deps;
      const { locale, at_patch: version } = query;
      const place = await findProjectedPlace(archive, config.GAME_DATA_GAME);
      return answer(readDocument(archive, place, resource, { id: params.id, version, locale }));
    },
  });
}

/** Every list in the plural; single documents in the plural and in the singular. */
export const projectionRoutes: Route<GameDataDeps>[] = bases.flatMap((base) => [
  facetsRoute(base),
  ...resources.flatMap((resource) => [
    listRoute(base, resource),
    documentRoute(base, resource.path, resource),
    documentRoute(base, resource.type, resource),
  ]),
]);
