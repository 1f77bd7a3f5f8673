const graphemes = new Intl.Segmenter();
/** Longest character in UTF-16 units. */
const maxUnits = 2;

/**
 * A text of at most `max` UTF-16 units, cut between graphemes: half a pair is no character, and half a flag another
 * one. `end` marks a text that was cut, and counts too. A grapheme longer than the rest is cut between characters.
 */
export function cutText(text: string, max: number, end = ""): string {
  if (text.length <= max) return text;
  const room = max - end.length;
  // The start of a grapheme depends on what precedes it and on its first character.
  const { index = 0 } = graphemes.segment(text.slice(0, room + maxUnits)).containing(room) ?? {};
  // The first grapheme alone may be longer.
  const kept = text.slice(0, index > 0 ? index : room);
  return kept.replace(/[\ud800-\udbff]$/, "") + end;
}
