import type { AppError } from "../platform/errors.ts";
import { namesHtml } from "../http/pipeline/browser-reply.ts";
import type { Authorizer, Listener } from "../http/pipeline/listener.ts";
import type { RequestContext } from "../http/pipeline/request-context.ts";
import {
  bytesReply,
  seeOtherReply,
  type AnyRoute,
  type Page,
  type Reply,
} from "../http/pipeline/route.ts";
import { refusalHeaders } from "../http/replies/respond.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import { isBoardPath } from "./board/paths.ts";
import { withNotice } from "./layout.ts";
import { outagePage, remainderOf, waitForPage } from "./outages/page.ts";
import { outageNotice } from "./outages/sentences.ts";
import type { OutageWatch } from "./outages/watch.ts";
import { loginPage, refusalPage } from "./session/page.ts";

const htmlType = "text/html; charset=utf-8";

/** No other origin may read anything here. */
const noPermissions: Listener["cors"] = {
  isForAll: () => false,
  answer: () => null,
  preflight: () => [],
};

export interface OperatorListenerOptions {
  authorizer: Authorizer;
  /** What the handlers take. */
  deps: object;
  outages: OutageWatch;
  /** Name of the OpenID provider, for the login page; default: there is none. */
  provider?: string | null;
}

/** What the pipeline does differently on the operator listener. */
export const operatorListener = (options: OperatorListenerOptions): Listener => ({
  authorizer: options.authorizer,
  cors: noPermissions,
  ownerPort: () => null,
  safetyOf,
  // Without TRUSTED_PROXIES too: a client that forges the header affects only itself.
  isBehindProxy: true,
  depsOf: () => options.deps,
  pages: {
    wait: (ctx, page) => waitForPage(options.outages, ctx, page),
    finish: (page) => withNotice(page, outageNotice(options.outages.known())),
    refusal: (ctx, refusal) => refusalReply(options, ctx, refusal),
  },
});

const common = [
  "X-Content-Type-Options: nosniff",
  "X-Frame-Options: DENY",
  // Without a referrer policy browsers send the origin `null` for our own forms, and over plain http no
  // other hint.
  "Referrer-Policy: same-origin",
  "Cross-Origin-Opener-Policy: same-origin",
  "Cross-Origin-Resource-Policy: same-origin",
];
const policy = (styles: string) =>
  `Content-Security-Policy: default-src 'self'; script-src 'self'; style-src ${styles}; img-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'`;
const headOf = (lines: readonly string[]) => lines.map((line) => `\r\n${line}`).join("");
const safety = headOf([...common, policy("'self'")]);
/** The script of the queue board sets styles by itself. */
const boardSafety = headOf([...common, policy("'self' 'unsafe-inline'")]);

const safetyOf = (route: AnyRoute | null): string =>
  route !== null && isBoardPath(route.path) ? boardSafety : safety;

/** A page instead of JSON for a browser; the login page where a login helps. */
async function refusalReply(
  { deps, outages, provider = null }: OperatorListenerOptions,
  ctx: RequestContext,
  refusal: AppError,
): Promise<Reply | null> {
  if (!namesHtml(ctx)) return null;
  const isRead = ctx.method === "GET" || ctx.method === "HEAD";
  if (refusal.code === "auth:required")
    return isRead
      ? seeOtherReply("/operator/login")
      : pageReply(refusal, loginPage("Your session has ended; nothing was changed.", provider));
  const caller = ctx.caller as OperatorCaller | null;
  const facts = { id: ctx.id, back: backOf(ctx), caller };
  if (refusal.status !== 503) return pageReply(refusal, refusalPage(refusal, facts));
  const { entry } = ctx;
  const isPage = isRead && entry?.route.page !== undefined;
  const [away, remainder] = await Promise.all([
    outages.poll(),
    isPage ? remainderOf(ctx, entry, deps) : null,
  ]);
  if (!isPage || caller === null || away.length === 0)
    return pageReply(refusal, withNotice(refusalPage(refusal, facts), outageNotice(away)));
  const { summary } = entry.route;
  const shown = outagePage({ caller, outages: away, summary, remainder });
  return bytesReply(200, htmlType, shown.markup, [["Vary", "Accept"]]);
}

const pageReply = (refusal: AppError, { markup }: Page): Reply =>
  bytesReply(refusal.status, htmlType, markup, refusalHeaders(refusal));

/** The page that the browser came from. */
function backOf({ headers }: RequestContext): string {
  const from = headers["referer"] ?? "";
  const { pathname, search } = URL.canParse(from) ? new URL(from) : { pathname: "", search: "" };
  return pathname.startsWith("/operator") ? pathname + search : "/operator";
}
