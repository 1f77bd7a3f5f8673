import { reply, type Headers } from "../../http/pipeline/route.ts";
import { setRefreshCookie } from "./cookies.ts";
import type { Session } from "./sessions.ts";

/** The Session payload with its refresh cookie; no cache may store it (S26). */
export function sessionReply<S extends 200 | 201>(
  status: S,
  { body, cookieSeconds }: Session,
  more: Headers = [],
) {
  return reply(status, body, [
    ...setRefreshCookie(body.refresh_token, cookieSeconds),
    ["Cache-Control", "no-store"],
    ...more,
  ]);
}
