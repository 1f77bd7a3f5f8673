import { Temporal } from "temporal-polyfill";
import Format from "typebox/format";

/** Names are at most this long in the IANA database; anything longer is refused unread. */
const maxLength = 64;
const nameForm = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Any IANA identifier the runtime resolves, links included; offsets such as `+01:00` are none (USR-03). */
export function isTimeZone(name: string): boolean {
  if (name.length > maxLength || !nameForm.test(name)) return false;
  try {
    // As dates are read in it: the runtime alone also knows names that are none of IANA's, such as PST.
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

Format.Set("time-zone", isTimeZone);
