import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { BrandingBody, presentBranding, presentRealm, RealmBody, SlugParams } from "./schemas.ts";
import { readBranding, readRealm } from "./service.ts";
import type { RealmDeps } from "./deps.ts";

const defineRoute = routesWith<RealmDeps>();
const tag = "Realms";

const realm = defineRoute({
  method: "GET",
  path: "/v1/realms/{slug}",
  summary: "Read a realm",
  tag,
  auth: "public",
  source: "document 1, Realms; RLM-01, KEY-08",
  notFoundCode: "realm:not_found",
  params: SlugParams,
  responses: { 200: RealmBody },
  errors: ["realm:not_found"],
  handler: async ({ params, deps }) => reply(200, presentRealm(await readRealm(deps, params.slug))),
});

const branding = defineRoute({
  method: "GET",
  path: "/v1/realms/{slug}/branding",
  summary: "Read the branding of a realm",
  tag,
  auth: "public",
  source: "document 1, Realms; RLM-01",
  notFoundCode: "realm:not_found",
  params: SlugParams,
  responses: { 200: BrandingBody },
  errors: ["realm:not_found", "realm:branding_missing"],
  handler: async ({ params, deps }) =>
    reply(200, presentBranding(await readBranding(deps, params.slug))),
});

export const realmsRoutes: Route<RealmDeps>[] = [realm, branding];
