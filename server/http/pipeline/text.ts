/** Postgres stores neither U+0000 nor lone surrogates, so no field may hold them (HTTP-03, S17). */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

// oxlint-disable-next-line no-control-regex -- it matches control characters
const controlCharacters = /[\u0000-\u0008\u000a-\u001f\u007f]/;
// oxlint-disable-next-line no-control-regex -- it matches control characters
const allControlCharacters = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

/** Header values are written unescaped: a line break in one would start another header (S22). */
export function headerValue(value: string): string {
  return controlCharacters.test(value) ? value.replace(allControlCharacters, "") : value;
}
