import Type from "typebox";
import {
  routesWith,
  media,
  redirect,
  redirectReply,
  type Route,
} from "../../http/pipeline/route.ts";
import { pastedToken } from "../../platform/text/pasted.ts";
import { readRestorable, restoreAddress, restorePagePath } from "./replaced-addresses.ts";
import type { SystemDeps } from "../system/deps.ts";
import { answerOf, pageReply, quiet, statusReply } from "./link-pages.ts";
import * as s from "../system/schemas.ts";

const defineRoute = routesWith<SystemDeps>();
const html = "text/html; charset=utf-8";
const link = {
  tag: "Pages",
  auth: "public",
  source: "USR-14",
  query: Type.Object({ token: Type.Optional(Type.String()) }),
  lenientQuery: true,
  errors: [],
} as const satisfies Partial<Route<SystemDeps>>;

const page = defineRoute({
  method: "GET",
  path: restorePagePath,
  summary: "Page of the link in the mail to a replaced address; asks before it changes anything",
  ...link,
  responses: { 200: media(html), 302: redirect },
  handler: async ({ query, deps, request }) => {
    const found = await readRestorable(deps, query.token ?? "");
    if (found === null) return statusReply(deps, "verify", "invalid_arguments");
    return pageReply(deps, request, { type: "restore", email: found.email }, [found.frontEnd]);
  },
});

const answer = defineRoute({
  method: "POST",
  path: restorePagePath,
  summary: "Decision on that page: yes restores the address and leads to a new password",
  ...link,
  heldSecret: ({ query, deps }) =>
    deps.tokens.verify("address_restore", pastedToken(query.token ?? ""))?.jti ?? null,
  rateLimit: { max: 10, window: 60 },
  urlForm: s.LinkAnswer,
  responses: { 302: redirect },
  handler: async ({ query, deps, request }) => {
    const token = query.token ?? "";
    if (answerOf(request) !== "yes")
      return redirectReply(
        `${restorePagePath}?${new URLSearchParams({ token }).toString()}`,
        quiet,
      );
    const next = await restoreAddress(deps, token);
    if (next === null) return statusReply(deps, "verify", "invalid_arguments");
    return redirectReply(next, quiet);
  },
});

export const restorePageRoutes: Route<SystemDeps>[] = [page, answer];
