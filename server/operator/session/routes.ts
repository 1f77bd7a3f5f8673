import { readAsset } from "../../features/pages/assets.ts";
import { isForwardedHttps } from "../../http/pipeline/forwarded.ts";
import {
  html,
  redirect,
  type OperatorReply,
  type OperatorRequest,
  type PageRoute,
} from "../exchange.ts";
import type { LoginFailures } from "./login-failures.ts";
import { avatarPages } from "../avatars/page.ts";
import { cookieName, cookieOf, refuseOtherSites, refuseRepeated } from "./authorizer.ts";
import { cookieSeconds } from "./ended-sessions.ts";
import type { Identities } from "./identity.ts";
import type { Stat } from "../overview/dashboard.ts";
import { indexPage, loginPage, overviewScript, type Link } from "../overview/page.ts";
import type { QueueBody } from "../schemas.ts";
import type { Sources } from "../deps.ts";
import { within } from "../health/stores.ts";

const links: Link[] = [
  { href: "/operator/queues/board", text: "Queue board", note: "jobs: look, retry, remove" },
  { href: "/operator/queues", text: "/operator/queues", note: "numbers of jobs by state" },
  { href: "/operator/outbox", text: "/operator/outbox", note: "mails and text messages" },
  { href: "/operator/wallets", text: "/operator/wallets", note: "wallets compared with ledgers" },
  { href: "/operator/avatars", text: "Avatars", note: "pictures to review" },
  { href: "/operator/workers", text: "/operator/workers", note: "processes and their restarts" },
  { href: "/operator/rooms", text: "/operator/rooms", note: "kinds of room; rooms in memory" },
  { href: "/operator/lobbies", text: "/operator/lobbies", note: "lobbies in memory by process" },
  { href: "/metrics", text: "/metrics", note: "Prometheus text, summed over all processes" },
  {
    href: "/ready",
    text: "/ready",
    note: "200 if every process and store responds and every store accepts writes",
  },
  { href: "/live", text: "/live", note: "200 while this process runs" },
  {
    href: "/operator/openapi.json",
    text: "/operator/openapi.json",
    note: "this API as OpenAPI 3.1",
  },
];

async function sendScript(): Promise<OperatorReply> {
  const script = await readAsset("operator/overview.js");
  if (script === null) throw new Error("the build lacks the script of the overview");
  return { status: 200, content: { kind: "raw", type: script.type, bytes: script.bytes } };
}

/** Pages for browsers, besides the queue dashboard. */
export function pageRoutes(
  sources: Pick<Sources, "processes" | "avatars"> & { jobs: Pick<Sources["jobs"], "queues"> },
  dashboard: () => Promise<Stat[]>,
  identities: Identities,
  failures: LoginFailures,
): readonly PageRoute[] {
  return [
    { method: "GET", path: "/", access: "open", handler: () => redirect("/operator") },
    {
      method: "GET",
      path: "/operator",
      access: "viewer",
      handler: async ({ operator }) => {
        if (!operator) return redirect("/operator/login");
        const [stats, processes, queues] = await Promise.all([
          dashboard(),
          sources.processes(),
          within<QueueBody[] | null>(sources.jobs.queues(), null),
        ]);
        return html(indexPage(operator, { links, stats, processes, queues }));
      },
    },
    { method: "GET", path: overviewScript, access: "open", handler: sendScript },
    {
      method: "GET",
      path: "/operator/login",
      access: "open",
      handler: () => html(loginPage(null)),
    },
    {
      method: "POST",
      path: "/operator/login",
      access: "open",
      handler: (request) => login(request, identities, failures),
    },
    {
      method: "POST",
      path: "/operator/logout",
      access: "open",
      handler: (request) => logout(request, identities),
    },
    ...avatarPages(sources.avatars),
  ];
}

async function login(
  request: OperatorRequest,
  identities: Identities,
  failures: LoginFailures,
): Promise<OperatorReply> {
  refuseOtherSites(request);
  const token = new URLSearchParams(request.body.toString("utf8")).get("token")?.trim() ?? "";
  const operator = await identities.fromToken(token);
  if (operator === null) {
    refuseRepeated(failures, request.ip);
    return html(loginPage("This token is not valid."), 401);
  }
  return redirect("/operator", {
    "Set-Cookie": cookie(identities.cookieFor(token), cookieSeconds, request),
  });
}

/** Fails if no store can record the end of the session: the cookie stays, so that the operator can retry. */
async function logout(request: OperatorRequest, identities: Identities): Promise<OperatorReply> {
  refuseOtherSites(request);
  const session = cookieOf(request);
  if (session !== undefined) await identities.end(session);
  return redirect("/operator/login", { "Set-Cookie": cookie("", 0, request) });
}

function cookie(value: string, maxAge: number, request: OperatorRequest): string {
  const proto = request.headers["x-forwarded-proto"]?.toString();
  const secure = isForwardedHttps(proto) ? "; Secure" : "";
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
}
