/** Bits a secret must seem to have: of a million times 16 random bytes, as hexadecimal digits, none seems to have fewer. */
const fewestBits = 70;
const makeOne = "make one with: openssl rand -base64 32";

/** Neighbours on keyboards, row by row and down the columns, and the order of the alphabet. */
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
/** Examples, and what was to be replaced. */
const placeholders =
  /change.{0,3}me|replace.{0,3}(?:me|this)|place.?holder|letmein|secret.{0,3}key|quick.{0,2}brown|correct.{0,2}horse|lorem.{0,2}ipsum/i;
/** What people write where a secret is asked for tells nothing about it. */
const familiarWords =
  /secret|passw(?:or)?d|passphrase|private|public|admin|token|default|example|sample|production|development|testing|server|service|application|session|cookie|random|string|characters?|chars|bytes|please|change|replace|long|least|must|this|that|with|your|very|super|strong|insecure|secure|emberline|platform|welcome|iloveyou/gi;

/** Why a secret can be guessed, as one line that says how to make a better one; null for one that seems random. */
export function weaknessOf(secret: string): string | null {
  if (placeholders.test(secret)) return `is one of those in examples; ${makeOne}`;
  if (estimateBits(secret) < fewestBits) return `can be guessed from its pattern; ${makeOne}`;
  return null;
}

/**
 * What a guesser has to find out: each character that does not follow from those before it is one of as many as
 * occur. This is no dictionary: other sentences pass, as does everything that was drawn at random.
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

/** Fewer characters are no pattern yet: some meet again in most secrets. */
const shortestRepeat = 3;

/** Characters from here on that occur before in the same order, or backwards; 0 for fewer than three. */
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

/** Whether a character goes on as the two before it began, or as every second or third one does. */
function continuesRun(text: readonly string[], at: number): boolean {
  return [1, 2, 3].some((distance) => {
    const [first, second, third] = [at - 2 * distance, at - distance, at].map((i) => text[i] ?? "");
    if (!first || !second || !third) return false;
    const steps = stepsOf(second, third);
    return stepsOf(first, second).some((step) => steps.includes(step));
  });
}

/** Ways from a character to a near one: in the order of characters, and in each row of a keyboard. */
function stepsOf(from: string, to: string): string[] {
  const byCode = (to.codePointAt(0) ?? 0) - (from.codePointAt(0) ?? 0);
  const steps = Math.abs(byCode) <= 2 ? [`code ${byCode}`] : [];
  for (const row of rows) {
    const [start, end] = [row.indexOf(from), row.indexOf(to)];
    if (start >= 0 && end >= 0 && Math.abs(end - start) === 1) steps.push(`row ${end - start}`);
  }
  return steps;
}
