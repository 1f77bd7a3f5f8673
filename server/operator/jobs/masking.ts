/** Maximum number of texts of one value that an operator sees. */
const maxText = 1_000;
const maxEntries = 100;
const maxDepth = 6;
const hidden = "***";

/** Names of members that are personal or secret, whatever their content. */
const privateNames =
  /^(?:to|ip)$|address|authorization|cookie|credential|e_?mail|hash|passport|password|phone|prompt|recipient|sealed|secret|token|user_?agent|user_?name|display_?name/i;

/** Personal or secret parts of texts: mail addresses, signed tokens, phone numbers, codes. */
const privateTexts: readonly [pattern: RegExp, shown: string][] = [
  [/\beyJ[\w-]{1,2000}(?:\.[\w-]{1,4000}){1,4}/g, hidden],
  [/\b(?:bearer|basic)\s+[\w.~+/=-]{1,4000}/gi, hidden],
  [/\b[0-9a-f]{32,256}\b/gi, hidden],
  [/:\/\/[^\s/@]{1,512}@/g, `://${hidden}@`],
  [/[^\s@<>"',;:/*]{1,64}@[^\s@<>"',;:/*]{1,255}/g, `${hidden}@${hidden}`],
  [/\+\d{7,15}\b/g, hidden],
  [/(?<!\d)\d{6}(?!\d)/g, hidden],
];

/** A text of a job without personal data and secrets (OPS-03, S27). */
export function maskText(text: string): string {
  const start = text.slice(0, maxText);
  const masked = privateTexts.reduce(
    (left, [pattern, shown]) => left.replace(pattern, shown),
    start,
  );
  return text.length > maxText ? `${masked}…` : masked;
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
