import { Temporal } from "temporal-polyfill";
import Format from "typebox/format";

/** Longest name in the IANA database; longer texts are refused unread. */
const maxLength = 64;
const nameForm = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/**
 * Any IANA identifier that the runtime resolves, links included; offsets such as `+01:00` are refused
 * (USR-03).
 */
export function isTimeZone(name: string): boolean {
  if (name.length > maxLength || !nameForm.test(name)) return false;
  try {
    // Uses the same API as date calculations, because `Intl` also accepts names that are not IANA's, such as
    // PST.
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

Format.Set("time-zone", isTimeZone);
