import { linkPath, statusPageUrl } from "../../platform/net/addresses.ts";
import { pageLocale } from "../../platform/text/locales.ts";
import type { WithConfig, WithTokens } from "../../platform/capabilities.ts";
import type { SystemDeps } from "../system/deps.ts";
import {
  bytesReply,
  routesWith,
  media,
  redirect,
  redirectReply,
  type Route,
  type Headers,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { heldSession } from "../sessions/sessions.ts";
import { disownAddress, readOrigin } from "./origin.ts";
import { verifyPagePath } from "./device.ts";
import { confirmPage, type Question } from "./confirm-page.ts";
import {
  unsubscribe,
  unsubscribePagePath,
  unsubscriberOf,
  verifyAddress,
} from "../system/mailing-list.ts";
import * as s from "../system/schemas.ts";

const defineRoute = routesWith<SystemDeps>();
const source = "SYS-02, USR-06";
const html = "text/html; charset=utf-8";
type Link = { email: string; token: string };

/** The address has a token: it must not leak by Referer or caches. */
export const quiet: Headers = [
  ["Referrer-Policy", "no-referrer"],
  ["Cache-Control", "no-store"],
];

export const linkOf = ({ email = "", token = "" }: Partial<Link>): Link => ({ email, token });

/** Page of an invalid, used or successful link. */
export function statusReply(deps: WithConfig, page: "verify" | "unsubscribe", outcome: string) {
  const query = outcome === "success" ? { result: "success" } : { result: "error", code: outcome };
  return redirectReply(statusPageUrl(deps.config, page, query), quiet);
}

/** Browsers also check the redirect of a form against the policy of its page. */
export function pageReply(
  deps: WithConfig,
  request: RequestInfo,
  question: Question,
  more: string[] = [],
) {
  const language = pageLocale(request.headers["accept-language"]);
  const target = request.query === "" ? request.path : `${request.path}?${request.query}`;
  const goals = [deps.config.MARKETING_URL, ...more].flatMap((url) =>
    URL.canParse(url) ? new URL(url).origin : [],
  );
  const policy = `default-src 'self'; object-src 'none'; base-uri 'none'; form-action ${["'self'", ...new Set(goals)].join(" ")}; frame-ancestors 'none'`;
  return bytesReply(200, html, confirmPage(language, question, target), [
    ["Content-Security-Policy", policy],
    ["Vary", "Accept-Language, Cookie"],
    ...quiet,
  ]);
}

/** Shared parts of both link pages: they ask for confirmation, or say that the link is invalid. */
const question = {
  tag: "Pages",
  auth: "public",
  source,
  query: s.LinkQuery,
  lenientQuery: true,
  responses: { 200: media(html), 302: redirect },
  errors: [],
} as const satisfies Partial<Route<SystemDeps>>;

/** Id of a valid verification token of an account. */
export const verificationOf = ({ tokens }: WithTokens, { token = "" }: Partial<Link>) =>
  tokens.verify("email_verify", token)?.jti ?? null;

const isAccountToken = (token: string): boolean => token.includes(".");

const verifyPage = defineRoute({
  method: "GET",
  path: verifyPagePath,
  summary: "Page of the link in a verification mail; asks before it changes anything",
  ...question,
  handler: async ({ query, deps, request }) => {
    const link = linkOf(query);
    const outcome = await verifyAddress(deps, { ...link, isTrial: true });
    if (outcome !== "success") return statusReply(deps, "verify", outcome);
    if (!isAccountToken(link.token))
      return pageReply(deps, request, { type: "subscribe", email: link.email });
    const origin = await readOrigin(deps, link.token, {
      held: heldSession(deps, request),
      request,
    });
    if (origin === null) return statusReply(deps, "verify", "invalid_arguments");
    const { stranger, frontEnd } = origin;
    return pageReply(deps, request, { type: "account", email: link.email, origin: stranger }, [
      frontEnd,
    ]);
  },
});

const verifyAnswer = defineRoute({
  method: "POST",
  path: verifyPagePath,
  summary:
    "Decision on that page: yes verifies the address; no removes everything attached to the account and leads to a new password",
  tag: "Pages",
  auth: "public",
  source,
  heldSecret: ({ query, deps }) => verificationOf(deps, query),
  rateLimit: { max: 10, window: 60 },
  query: s.LinkQuery,
  lenientQuery: true,
  urlForm: s.LinkAnswer,
  responses: { 302: redirect },
  errors: [],
  handler: async ({ query, deps, request }) => {
    const link = linkOf(query);
    const answer = answerOf(request);
    if (answer === "no" && isAccountToken(link.token)) {
      const done = await disownAddress(deps, link);
      if (done === null) return statusReply(deps, "verify", "invalid_arguments");
      return done.reset === null
        ? statusReply(deps, "verify", "address_removed")
        : redirectReply(done.reset, quiet);
    }
    if (answer !== "yes") return redirectReply(linkPath(verifyPagePath, link), quiet);
    return statusReply(deps, "verify", await verifyAddress(deps, { ...link, isTrial: false }));
  },
});

const unsubscribePage = defineRoute({
  method: "GET",
  path: unsubscribePagePath,
  summary: "Page of the unsubscribe link in a mail; asks before it changes anything",
  ...question,
  handler: async ({ query, deps, request }) => {
    const link = linkOf(query);
    const outcome = await unsubscribe(deps, { ...link, isTrial: true });
    if (outcome !== "success") return statusReply(deps, "unsubscribe", outcome);
    return pageReply(deps, request, { type: "unsubscribe", email: link.email });
  },
});

const unsubscribeAnswer = defineRoute({
  method: "POST",
  path: unsubscribePagePath,
  summary: "Decision on that page",
  tag: "Pages",
  auth: "public",
  source,
  heldSecret: ({ query, deps }) => unsubscriberOf(deps, linkOf(query)),
  rateLimit: { max: 60, window: 60 },
  query: s.LinkQuery,
  lenientQuery: true,
  urlForm: s.LinkAnswer,
  responses: { 302: redirect },
  errors: [],
  handler: async ({ query, deps, request }) => {
    const link = linkOf(query);
    if (answerOf(request) !== "yes")
      return redirectReply(linkPath(unsubscribePagePath, link), quiet);
    return statusReply(deps, "unsubscribe", await unsubscribe(deps, { ...link, isTrial: false }));
  },
});

const maxForm = 256;

/** Fields of the form; empty for any other body. */
export function answerOf({ body }: RequestInfo): string | null {
  if (body === null || body.length > maxForm) return null;
  return new URLSearchParams(Buffer.from(body).toString()).get("answer");
}

export const linkPageRoutes: Route<SystemDeps>[] = [
  verifyPage,
  verifyAnswer,
  unsubscribePage,
  unsubscribeAnswer,
];
