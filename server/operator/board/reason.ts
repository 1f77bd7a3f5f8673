import type { RequestInfo } from "../../http/pipeline/route.ts";
import { cutText } from "../../platform/text/cut-text.ts";
import { boardPath } from "./paths.ts";

const cookieName = "operator_reason";
const keptSeconds = 15 * 60;
const maxReason = 500;

/**
 * The board has no field for a reason, so an admin states it before: it is kept in the browser for a quarter of an
 * hour and becomes part of the audit records. It proves nothing; the session does.
 */
export const reasonCookie = (reason: string): string =>
  `${cookieName}=${encodeURIComponent(reason)}; Path=${boardPath}; HttpOnly; SameSite=Strict; Max-Age=${keptSeconds}`;

/** The stated reason; empty without one. Cookies are decoded when they are read. */
export const reasonOf = ({ cookies }: Pick<RequestInfo, "cookies">): string =>
  cutText((cookies[cookieName] ?? "").trim(), maxReason);
