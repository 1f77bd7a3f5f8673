import { Temporal } from "temporal-polyfill";

/** Calendar dates are texts of the form YYYY-MM-DD, whose text order is their date order. */

/** Largest and smallest UTC offset on Earth, in hours: the range in which a calendar date is current. */
const earliestHours = 14;
const latestHours = -12;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The current date in a time zone. */
export function dateIn(timeZone: string, now: number): string {
  return Temporal.Instant.fromEpochMilliseconds(now)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .toString();
}

/** The first moment of a date in a time zone; later than midnight where clocks skip it. */
export function startOfDate(timeZone: string, date: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(timeZone).startOfDay().epochMilliseconds;
}

const dateAt = (now: number, offsetHours: number) =>
  new Date(now + offsetHours * hourMs).toISOString().slice(0, 10);

/** The latest date that is current anywhere (UTC+14). */
export const latestDate = (now: number): string => dateAt(now, earliestHours);

/** The earliest date that is current anywhere (UTC-12). */
export const earliestDate = (now: number): string => dateAt(now, latestHours);

/** Whether a date is current somewhere on Earth. */
export function isCurrentSomewhere(date: string, now: number): boolean {
  return earliestDate(now) <= date && date <= latestDate(now);
}

/** Every date from `first` to `last`, both included. */
export function datesBetween(first: string, last: string): string[] {
  const dates: string[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += dayMs)
    dates.push(new Date(at).toISOString().slice(0, 10));
  return dates;
}

/** Monday and Sunday of the week that contains a date. */
export function weekOf(date: string): { first: string; last: string } {
  const day = Temporal.PlainDate.from(date);
  const monday = day.subtract({ days: day.dayOfWeek - 1 });
  return { first: monday.toString(), last: monday.add({ days: 6 }).toString() };
}

export function monthOf(date: string): { first: string; last: string } {
  const day = Temporal.PlainDate.from(date);
  const first = day.with({ day: 1 });
  return { first: first.toString(), last: day.with({ day: day.daysInMonth }).toString() };
}

/** A calendar date in the form YYYY-MM-DD, from the year 1 on. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith("0000")) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
