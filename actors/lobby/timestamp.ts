const dayMs = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));

/** The day asked for last: the times of a lobby are mostly of one day. */
let day = Number.NaN;
let dayText = "";

/**
 * ISO 8601 in UTC without fractions (document 1, Field conventions), of milliseconds since the Unix epoch. Every
 * snapshot has half a dozen of them, which `Date` takes ten times as long to write.
 */
export function timestamp(ms: number): string {
  const ofDay = Math.floor(ms / dayMs);
  if (ofDay !== day) {
    dayText = new Date(ofDay * dayMs).toISOString().slice(0, -"00:00:00.000Z".length);
    day = ofDay;
  }
  const seconds = Math.floor((ms - ofDay * dayMs) / 1_000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${dayText}${twoDigits[hours]}:${twoDigits[minutes]}:${twoDigits[seconds % 60]}+00:00`;
}
