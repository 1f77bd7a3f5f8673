import { publicBaseUrl } from "../../platform/net/addresses.ts";
import type { ErrorCode } from "../../platform/errors.ts";
import { noticePage, pagePolicy } from "../../platform/text/notice-page.ts";
import { pageLocale } from "../../platform/text/locales.ts";
import type { WithConfig, WithEm, WithFaults, WithOrigin } from "../../platform/capabilities.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import { asksForPage } from "../../http/pipeline/accept.ts";
import { toAppError } from "../../http/pipeline/failures.ts";
import { bytesReply, media, type RequestInfo } from "../../http/pipeline/route.ts";
import { readFrontEnd } from "../realms/service.ts";

const html = "text/html; charset=utf-8";
/** Refusals of an address that browsers visit, which are pages for whoever asks for HTML. */
export const visitPages = { 400: media(html), 401: media(html), 404: media(html) };

const texts = {
  en: {
    title: "Sign in",
    heading: "You were not signed in",
    used: "This sign-in is no longer open: it was used already, or it took too long. Please start again.",
    wrong: "This address cannot sign you in. Please start again.",
    back: "Back to the start",
  },
  de: {
    title: "Anmelden",
    heading: "Du bist nicht angemeldet",
    used: "Diese Anmeldung ist nicht mehr offen: Sie wurde schon benutzt oder hat zu lange gedauert. Bitte beginne noch einmal.",
    wrong: "Mit dieser Adresse geht die Anmeldung nicht. Bitte beginne noch einmal.",
    back: "Zurück zum Anfang",
  },
} as const;

const ofUsedLinks: ReadonlySet<ErrorCode> = new Set([
  "oauth:state_invalid",
  "sso:passport_invalid",
]);

/**
 * A person comes back to such an address with Back or a reload, when it works no longer. Rethrows the error for a
 * program, and what a later try may mend.
 */
export async function visitPage(
  deps: WithEm & WithConfig & WithFaults & WithOrigin,
  request: RequestInfo,
  error: unknown,
): Promise<never> {
  const { status, code } = toAppError(error);
  if (!(status in visitPages) || !asksForPage(request)) throw error;
  const language = pageLocale(request.headers["accept-language"]);
  const { title, heading, back, ...reasons } = texts[language];
  const text = ofUsedLinks.has(code) ? reasons.used : reasons.wrong;
  const start = await readFrontEnd(deps, deps.config.DEFAULT_REALM).catch((cause: unknown) => {
    recordDegraded(deps, "front-end-address", cause, deps.origin);
    return publicBaseUrl(deps.config);
  });
  const link = { href: `${start}/`, label: back };
  // The status is not known to the route's types.
  return bytesReply(status, html, noticePage({ language, title, heading, text, link }), [
    ["Content-Security-Policy", pagePolicy],
    ["Referrer-Policy", "no-referrer"],
    ["Cache-Control", "no-store"],
    ["Vary", "Accept, Accept-Language"],
  ]) as never;
}
