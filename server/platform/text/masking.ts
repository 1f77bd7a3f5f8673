import { cutText } from "./cut-text.ts";

/** Maximum number of characters of one text that an operator sees. */
const maxText = 1_000;
const maxAddress = 320;
const maxEntries = 100;
const maxDepth = 6;
const hidden = "***";

/** Names of members that are personal or secret, whatever their content. */
const privateNames =
  /^(?:to|ip)$|address|authorization|cookie|credential|e_?mail|hash|passport|password|phone|prompt|recipient|sealed|secret|token|user_?agent|user_?name|display_?name/i;

/**
 * Personal or secret parts of texts: mail addresses, tokens, phone numbers, codes. Every repetition has a bound, so
 * that a long text of another service takes linear time.
 */
const privateTexts: readonly [pattern: RegExp, shown: string][] = [
  [/\beyJ[\w-]{1,2000}(?:\.[\w-]{1,4000}){1,4}/g, hidden],
  [/\b(?:bearer|basic)\s+[\w.~+/=-]{1,4000}/gi, hidden],
  [/\b[0-9a-f]{32,256}\b/gi, hidden],
  [/([?&](?:code|key|secret|sig|signature|token)=)[^&\s"'<>]{1,4000}/gi, `$1${hidden}`],
  [/:\/\/[^\s/@]{1,512}@/g, `://${hidden}@`],
  [/[^\s@<>"',;:/*]{1,64}@[^\s@<>"',;:/*]{1,255}/g, `${hidden}@${hidden}`],
  // Random ids and keys: letters of both cases and digits. Not the names of migrations, which a failed start gives.
  [
    /(?<![\w-])(?!Migration\d{14}_)(?=[A-Za-z_-]{0,200}\d)(?=[\da-z_-]{0,200}[A-Z])(?=[\dA-Z_-]{0,200}[a-z])[\w-]{20,4000}/g,
    hidden,
  ],
  [/\+\d(?:[ ()./-]{0,2}\d){6,14}\b/g, hidden],
  [/(?<!\d|\bpid |\bMigration)(?:\d{6}|\d{3}[ -]\d{3}|\d{9,15})(?!\d)/g, hidden],
];

/** A text of another service, of an error or of a job without personal data and secrets (OPS-03, S27). */
export function maskText(text: string, maxLength = maxText): string {
  // Masked before the cut, which must not leave the half of an address that no pattern recognizes.
  const start = cutText(text, maxLength + maxAddress);
  const masked = privateTexts.reduce(
    (left, [pattern, shown]) => left.replace(pattern, shown),
    start,
  );
  return text.length > maxLength ? `${cutText(masked, maxLength)}…` : masked;
}

/**
 * A copy of job data for operators. Personal or secret members, by name or by content, are replaced, and
 * the copy is limited to what a page can show.
 */
export function maskData(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value !== "object" || value === null) return value ?? null;
  if (depth >= maxDepth) return hidden;
  if (Array.isArray(value))
    return value.slice(0, maxEntries).map((item) => maskData(item, depth + 1));
  const entries = Object.entries(value).slice(0, maxEntries);
  return Object.fromEntries(
    entries.map(([name, item]) => [
      maskText(name),
      privateNames.test(name) ? hidden : maskData(item, depth + 1),
    ]),
  );
}
