import { stringifySetCookie } from "cookie";
import type { Headers } from "../../http/pipeline/route.ts";

export const refreshCookie = "svc_refresh";

/** `Secure` always: browsers treat localhost as secure (TOK-06). */
export function setRefreshCookie(value: string, maxAge: number): Headers {
  const cookie = stringifySetCookie({
    name: refreshCookie,
    value,
    maxAge,
    path: "/v1/gateway",
    httpOnly: true,
    secure: true,
    sameSite: "none",
  });
  return [["Set-Cookie", cookie]];
}

export const clearRefreshCookie = (): Headers => setRefreshCookie("", 0);
