/** Minimum estimated entropy in bits: none of a million samples of 16 random bytes, in hexadecimal, has less. */
const fewestBits = 70;
const makeOne = "make one with: openssl rand -base64 32";

/** Keyboard neighbours, by row and by column, and the alphabet. */
const rows = [
  "1234567890-=",
  "!@#$%^&*()_+",
  "qwertyuiop[]",
  "asdfghjkl;'",
  "zxcvbnm,./",
  "qwertzuiopü+",
  "asdfghjklöä#",
  "yxcvbnm,.-",
  "azertyuiop^$",
  "qsdfghjklmù*",
  "wxcvbn,;:!",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
  "1qay2wsx3edc4rfv5tgb6zhn7ujm8ik,9ol.0pö-",
  "qazwsxedcrfvtgbyhnujmikolp",
];
/** Examples and placeholders. */
const placeholders =
  /change.{0,3}me|replace.{0,3}(?:me|this)|place.?holder|letmein|secret.{0,3}key|quick.{0,2}brown|correct.{0,2}horse|lorem.{0,2}ipsum/i;
/** Common filler words add no entropy. */
const familiarWords =
  /secret|passw(?:or)?d|passphrase|private|public|admin|token|default|example|sample|production|development|testing|server|service|application|session|cookie|random|string|characters?|chars|bytes|please|change|replace|long|least|must|this|that|with|your|very|super|strong|insecure|secure|emberline|platform|welcome|iloveyou/gi;

/** Why a secret is weak, in one line with the way to a better one; null for a secret that looks random. */
export function weaknessOf(secret: string): string | null {
  if (placeholders.test(secret)) return `is one of those in examples; ${makeOne}`;
  if (estimateBits(secret) < fewestBits) return `can be guessed from its pattern; ${makeOne}`;
  return null;
}

/**
 * Entropy estimate: each character that does not follow from those before it counts as one of the distinct
 * characters. There is no dictionary: sentences pass, as does every random secret.
 */
export function estimateBits(secret: string): number {
  const given = [...secret.replaceAll(familiarWords, "")];
  const folded = given.map((character) => character.toLowerCase());
  const perCharacter = Math.log2(Math.max(1, new Set(given).size));
  let unforeseen = 0;
  for (let at = 0; at < given.length;) {
    const repeated = repeatAt(folded, at);
    const isForeseen = repeated === 0 && continuesRun(folded, at);
    if (!isForeseen) unforeseen += 1;
    at += Math.max(1, repeated);
  }
  return unforeseen * perCharacter;
}

/** Shorter repetitions are no pattern: most secrets have some. */
const shortestRepeat = 3;

/** Length of the repetition, forwards or backwards, that starts here; 0 below three characters. */
function repeatAt(text: readonly string[], at: number): number {
  let longest = 0;
  for (let from = 0; from < at; from++)
    for (const step of [1, -1]) {
      let length = 0;
      while (at + length < text.length && isSame(text, from + step * length, at + length))
        length += 1;
      longest = Math.max(longest, length);
    }
  return longest < shortestRepeat ? 0 : longest;
}

const isSame = (text: readonly string[], from: number, to: number) =>
  from >= 0 && from < to && text[from] === text[to];

/** True when a character continues the step of the two before it, or of every second or third one. */
function continuesRun(text: readonly string[], at: number): boolean {
  return [1, 2, 3].some((distance) => {
    const [first, second, third] = [at - 2 * distance, at - distance, at].map((i) => text[i] ?? "");
    if (!first || !second || !third) return false;
    const steps = stepsOf(second, third);
    return stepsOf(first, second).some((step) => steps.includes(step));
  });
}

/** Steps from one character to the next: by code point, and by position in each keyboard row. */
function stepsOf(from: string, to: string): string[] {
  const byCode = (to.codePointAt(0) ?? 0) - (from.codePointAt(0) ?? 0);
  const steps = Math.abs(byCode) <= 2 ? [`code ${byCode}`] : [];
  for (const row of rows) {
    const [start, end] = [row.indexOf(from), row.indexOf(to)];
    if (start >= 0 && end >= 0 && Math.abs(end - start) === 1) steps.push(`row ${end - start}`);
  }
  return steps;
}
