import Format from "typebox/format";

/** Names are at most this long in the IANA database; anything longer is refused unread. */
const maxLength = 64;
const nameForm = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Any IANA identifier the runtime resolves, links included; offsets such as `+01:00` are none (USR-03). */
export function isTimeZone(name: string): boolean {
  if (name.length > maxLength || !nameForm.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

Format.Set("time-zone", isTimeZone);
