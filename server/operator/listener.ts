import type { AppError } from "../platform/errors.ts";
import { namesHtml } from "../http/pipeline/browser-reply.ts";
import type { Authorizer, Listener } from "../http/pipeline/listener.ts";
import type { RequestContext } from "../http/pipeline/request-context.ts";
import { bytesReply, seeOtherReply, type AnyRoute, type Reply } from "../http/pipeline/route.ts";
import { refusalHeaders } from "../http/replies/respond.ts";
import type { OperatorCaller } from "../http/auth/auth.ts";
import { isBoardPath } from "./board/paths.ts";
import type { Html } from "./html.ts";
import { loginPage, refusalPage } from "./session/page.ts";

const htmlType = "text/html; charset=utf-8";

/** No other origin may read anything here. */
const noPermissions: Listener["cors"] = {
  isForAll: () => false,
  answer: () => null,
  preflight: () => [],
};

/** What the pipeline does differently on the operator listener; `provider` is that of OpenID, for the login page. */
export const operatorListener = (
  authorizer: Authorizer,
  deps: object,
  provider: string | null = null,
): Listener => ({
  authorizer,
  cors: noPermissions,
  ownerPort: () => null,
  safetyOf,
  // Without TRUSTED_PROXIES too: a client that forges the header affects only itself.
  isBehindProxy: true,
  depsOf: () => deps,
  refusalPage: (ctx, refusal) => refusalReply(ctx, refusal, provider),
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
function refusalReply(
  ctx: RequestContext,
  refusal: AppError,
  provider: string | null,
): Reply | null {
  if (!namesHtml(ctx)) return null;
  const send = ({ markup }: Html) =>
    bytesReply(refusal.status, htmlType, markup, refusalHeaders(refusal));
  if (refusal.code !== "auth:required")
    return send(
      refusalPage(refusal, {
        id: ctx.id,
        back: backOf(ctx),
        caller: ctx.caller as OperatorCaller | null,
      }),
    );
  return ctx.method === "GET" || ctx.method === "HEAD"
    ? seeOtherReply("/operator/login")
    : send(loginPage("Your session has ended; nothing was changed.", provider));
}

/** The page that the browser came from. */
function backOf({ headers }: RequestContext): string {
  const from = headers["referer"] ?? "";
  const { pathname, search } = URL.canParse(from) ? new URL(from) : { pathname: "", search: "" };
  return pathname.startsWith("/operator") ? pathname + search : "/operator";
}
