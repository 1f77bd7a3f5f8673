import { loadCatalogue } from "./domain/catalogue.ts";
import { displayNameOf, iconSource, licenceOf } from "./domain/credits.ts";
import { palettes } from "./domain/palettes.ts";
import { permissionVary } from "../../http/auth/cors.ts";
import {
  bytesReply,
  routesWith,
  media,
  redirect,
  redirectReply,
  reply,
  type Route,
  type Headers,
} from "../../http/pipeline/route.ts";
import { AppError } from "../../platform/errors.ts";
import { flagOf, renderIcon, renderNobody, renderPlayer, sizeOf, type Rendered } from "./render.ts";
import * as s from "./schemas.ts";
import { uploadRoutes } from "./upload-routes.ts";
import { changeSelection, listAvailable } from "./service.ts";
import type { AvatarDeps } from "./deps.ts";

const defineRoute = routesWith<AvatarDeps>();
const tag = "Avatars";
const svgType = "image/svg+xml";
const playerCache = "public, max-age=300";

const answer = (rendered: Rendered, headers: Headers = []) =>
  "svg" in rendered
    ? bytesReply(200, svgType, rendered.svg, headers)
    : redirectReply(rendered.location, headers);

const own = defineRoute({
  method: "GET",
  path: "/v1/users/@me/avatar",
  summary: "Draw the caller's avatar; without a token a generic one",
  tag,
  auth: "optional",
  source: "document 1, Users; AV-07, AV-08",
  query: s.RenderQuery,
  lenientQuery: true,
  responses: { 200: media(svgType), 302: redirect },
  errors: ["request:invalid_query"],
  handler: async ({ query, caller, deps }) => {
    const size = sizeOf(query.size);
    const isFallback = flagOf(query.fallback);
    const rendered = caller && (await renderPlayer(deps, caller.playerId, { size, isFallback }));
    return answer(rendered ?? renderNobody(size), [
      ["Cache-Control", "private, no-store"],
      ["Vary", "Authorization"],
    ]);
  },
});

const change = defineRoute({
  method: "PATCH",
  path: "/v1/users/@me/avatar",
  summary: "Choose the caller's avatar, and claim a combination of icon and colours",
  tag,
  auth: "player",
  source: "document 1, Users; AV-01, AV-02, AV-03, ENV-06",
  rateLimit: { max: 20, window: 60 },
  body: s.SelectionBody,
  responses: { 200: s.SelectionAnswer },
  errors: [
    "avatar:invalid_option",
    "avatar:no_approved_upload",
    "avatar:provider_not_linked",
    "avatar:guest_forbidden",
    "avatar:combination_taken",
  ],
  handler: async ({ body, caller, deps }) =>
    reply(200, { avatar: s.presentSelection(await changeSelection(deps, caller, body)) }),
});

const ofPlayer = defineRoute({
  method: "GET",
  path: "/v1/players/{id}/avatar",
  summary: "Draw the avatar of a player",
  tag,
  auth: "public",
  source: "document 1, Avatars; AV-07, AV-08, AV-09",
  params: s.PlayerId,
  notFoundCode: "player:not_found",
  query: s.PlayerRenderQuery,
  lenientQuery: true,
  cache: playerCache,
  publicData: true,
  responses: { 200: media(svgType), 302: redirect },
  errors: ["request:invalid_query", "player:not_found"],
  handler: async ({ params, query, deps }) => {
    const options = { size: sizeOf(query.size), isFallback: flagOf(query.fallback) };
    const rendered = await renderPlayer(deps, params.id, options);
    if (!rendered) throw new AppError("player:not_found");
    if ("svg" in rendered) return answer(rendered);
    return answer(rendered, [
      ["Cache-Control", playerCache],
      ["Vary", permissionVary],
    ]);
  },
});

const icon = defineRoute({
  method: "GET",
  path: "/v1/avatars/icons/{slug}",
  summary: "Draw an icon in palette colours",
  tag,
  auth: "public",
  source: "document 1, Avatars; AV-02, AV-08",
  params: s.IconSlug,
  notFoundCode: "avatar:icon_not_found",
  query: s.IconQuery,
  lenientQuery: true,
  cache: "public, max-age=86400",
  publicData: true,
  responses: { 200: media(svgType) },
  errors: ["avatar:invalid_option", "avatar:icon_not_found"],
  handler: async ({ params, query }) => {
    const { svg, etag } = await renderIcon(params.slug, query, sizeOf(query.size));
    return bytesReply(200, svgType, svg, [["ETag", etag]]);
  },
});

const available = defineRoute({
  method: "GET",
  path: "/v1/avatars/available",
  summary: "List the unclaimed icons and the palettes",
  tag,
  auth: "public",
  source: "document 1, Avatars; AV-01, AV-02",
  query: s.AvailableQuery,
  cache: "private, max-age=30",
  responses: { 200: s.AvailableIcons },
  errors: [],
  handler: async ({ query, deps }) => {
    const { icons, total, numTaken } = await listAvailable(deps, query.mine ?? null);
    return reply(200, {
      icons: icons.map(({ author, slug, tags }) => ({ author, slug, tags })),
      total,
      taken_count: numTaken,
      palettes,
    });
  },
});

const credits = defineRoute({
  method: "GET",
  path: "/v1/avatars/credits",
  summary: "List the authors of the icons and their licences",
  tag,
  auth: "public",
  source: "licence of the icons: CC BY 3.0, section 4",
  cache: "public, max-age=86400",
  responses: { 200: s.Credits },
  errors: [],
  handler: async () => {
    const { icons } = await loadCatalogue();
    const counts = new Map<string, number>();
    for (const { author } of icons) counts.set(author, (counts.get(author) ?? 0) + 1);
    const authors = [...counts].map(([author, numIcons]) => {
      const { name: licence, url } = licenceOf(author);
      return {
        author,
        name: displayNameOf(author),
        num_icons: numIcons,
        licence,
        licence_url: url,
      };
    });
    authors.sort((a, b) => b.num_icons - a.num_icons || (a.author < b.author ? -1 : 1));
    return reply(200, { source: iconSource, authors });
  },
});

export const avatarRoutes: Route<AvatarDeps>[] = [
  own,
  change,
  ofPlayer,
  icon,
  available,
  credits,
  ...uploadRoutes,
];
