import Format from "typebox/format";

const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** Beyond it, zones west of Greenwich reach years that neither the wire nor Postgres can represent. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Milliseconds of an ISO 8601 date or time, in UTC by default; null for anything else. */
export function parseInstant(text: string): number | null {
  const match = text.length <= 40 ? form.exec(text) : null;
  if (!match) return null;
  const [, year = "", month = "", day = "", hour, , , zone] = match;
  // `Date.parse` accepts the 30th of February as the 2nd of March.
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(day) > lastDay || Number(month) === 0) return null;
  const isLocal = hour !== undefined && zone === undefined;
  const ms = Date.parse(isLocal ? `${text}Z` : text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  return ms <= lastMs ? ms : null;
}

Format.Set("instant", (text) => parseInstant(text) !== null);
