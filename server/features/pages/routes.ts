import Type from "typebox";
import { AppError } from "../../platform/errors.ts";
import { workerPorts } from "../../platform/net/worker-ports.ts";
import { isLocalPeer } from "../../platform/security/local-peer.ts";
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
import { codexPages } from "../archive/pages.ts";
import { dataPages } from "../gamedata/pages.ts";
import { decisionsPage } from "../docs/decisions-page.ts";
import { readAsset, type Asset } from "./assets.ts";
import { resetPage } from "../sessions/reset-page.ts";
import type { PageDeps } from "./deps.ts";

const defineRoute = routesWith<PageDeps>();
const tag = "Pages";

/**
 * Scripts, styles and connections of our own origin only. Images may be data: URLs, as in the style sheet of the
 * documentation page.
 */
const policy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Browsers cache and revalidate, so that a new version shows at once. */
const cache = "no-cache";

/**
 * Content security policy of a page whose client connects to dedicated ports of workers: other origins on
 * the same host (HTTP-19).
 */
function followingPolicy({ config }: PageDeps, { headers, isSecure }: RequestInfo): string {
  const { protocol, hostname } = URL.parse(
    config.PUBLIC_BASE_URL || `${isSecure ? "https" : "http"}://${headers["host"] ?? ""}`,
  ) ?? { protocol: "", hostname: "" };
  if (!/^([a-z0-9.-]+|\[[0-9a-f:.]+\])$/.test(hostname)) return policy;
  const origins = workerPorts(config).map((port) => `${protocol}//${hostname}:${port}`);
  return origins.length === 0 ? policy : `${policy}; connect-src 'self' ${origins.join(" ")}`;
}

function page(
  path: string,
  summary: string,
  fileFor: (environment: string) => string,
  policyOf: (deps: PageDeps, request: RequestInfo) => string = () => policy,
) {
  return defineRoute({
    method: "GET",
    path,
    summary,
    tag,
    auth: "public",
    source: "our own page",
    cache,
    responses: { 200: media("text/html; charset=utf-8") },
    errors: [],
    handler: async ({ deps, request }) =>
      sendAsset(await readAsset(fileFor(deps.config.APP_ENV)), policyOf(deps, request)),
  });
}

/** The base of all addresses, which the startup banner names: people open it. */
const base = defineRoute({
  method: "GET",
  path: "/v1",
  summary: "Go to the documentation of the interface",
  tag,
  auth: "public",
  source: "our own page",
  responses: { 302: redirect },
  errors: [],
  handler: async () => redirectReply("/docs"),
});

const assets = defineRoute({
  method: "GET",
  path: "/assets/{file}",
  summary: "Read a script or style sheet of the pages",
  tag,
  auth: "public",
  source: "our own page",
  cache,
  params: Type.Object({ file: Type.String() }),
  responses: { 200: media("*/*") },
  errors: ["route:not_found"],
  handler: async ({ params }) => sendAsset(await readAsset(params.file)),
});

const clientNames = [
  ["emberline.ts", "typed", "text/plain; charset=utf-8"],
  ["emberline.js", "ready for browsers", "text/javascript; charset=utf-8"],
  ["emberline.js.map", "the source map of the script", "application/json"],
  ["emberline.d.ts", "the types of the script", "text/plain; charset=utf-8"],
] as const;

const clientFiles = clientNames.map(([name, what, type]) =>
  defineRoute({
    method: "GET",
    path: `/client/${name}`,
    summary: `The client for lobbies, ${what}`,
    tag,
    auth: "public",
    source: "our own client",
    cache,
    publicData: true,
    responses: { 200: media(type) },
    errors: [],
    handler: async () => sendAsset(await readAsset(`client/${name}`)),
  }),
);

/** It shows messages of all players: not in production, and for this machine only (S29). */
const inbox = defineRoute({
  method: "GET",
  path: "/inbox",
  summary: "Mails and text messages; not in production, and for this machine only",
  tag,
  auth: "public",
  source: "BOOT-05",
  responses: { 200: media("text/html; charset=utf-8") },
  errors: ["route:not_found"],
  handler: async ({ deps, request }) => {
    const isOpen = deps.config.APP_ENV !== "production" && isLocalPeer(request.ip, request.headers);
    return sendAsset(isOpen ? await readAsset("inbox.html") : null);
  },
});

/** Pages for people; each uses public endpoints only. */
export const pageRoutes: Route<PageDeps>[] = [
  page("/", "The start page; outside development one line with links", (environment) =>
    environment === "development" ? "home.html" : "plain.html",
  ),
  page("/docs", "Browse the interface", () => "docs.html"),
  base,
  decisionsPage,
  page("/play", "Play trivia in the browser", () => "play.html", followingPolicy),
  ...codexPages,
  ...dataPages,
  inbox,
  resetPage,
  assets,
  ...clientFiles,
];

function sendAsset(asset: Asset | null, ownPolicy = policy) {
  if (asset === null) throw new AppError("route:not_found");
  const headers: Headers = [
    ["ETag", asset.etag],
    ["Referrer-Policy", "no-referrer"],
  ];
  if (asset.type !== "image/svg+xml") headers.push(["Content-Security-Policy", ownPolicy]);
  return bytesReply(200, asset.type, asset.bytes, headers);
}
