/** How often the same text is said, in milliseconds. */
const pauseMs = 10_000;
/** Texts known at a time; an older one counts as new when it comes again. */
const maxTexts = 32;

/**
 * Says a text at once, and again at most every ten seconds, with how many times it came: what fails in a loop
 * would fill the disk with its log.
 */
export function sayRarely(
  say: (text: string, times: number) => void,
  now: () => number = () => performance.now(),
): (text: string) => void {
  const last = new Map<string, { at: number; unsaid: number }>();
  return (text) => {
    const known = last.get(text);
    if (known !== undefined && now() - known.at < pauseMs) {
      known.unsaid++;
      return;
    }
    say(text, 1 + (known?.unsaid ?? 0));
    last.delete(text);
    last.set(text, { at: now(), unsaid: 0 });
    const [oldest] = last.keys();
    if (last.size > maxTexts && oldest !== undefined) last.delete(oldest);
  };
}
