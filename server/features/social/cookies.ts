import { stringifySetCookie } from "cookie";
import type { Headers, RequestInfo } from "../../http/pipeline/route.ts";
import { isSecret, stateSeconds } from "./states.ts";

const browserCookie = "svc_oauth";

/** Lax, since the provider returns the browser by a plain navigation (OA-02). */
export function setBrowserCookie(value: string): Headers {
  const cookie = stringifySetCookie({
    name: browserCookie,
    value,
    maxAge: stateSeconds,
    path: "/v1/gateway/oauth",
    httpOnly: true,
    secure: true,
    sameSite: "lax",
  });
  return [["Set-Cookie", cookie]];
}

export function readBrowser({ cookies }: Pick<RequestInfo, "cookies">): string | null {
  const value = cookies[browserCookie];
  return isSecret(value) ? value : null;
}
