/** U+0000 and lone surrogates fit no store of ours, so no field may hold them (HTTP-03, S17). */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const controlCharacters = /[\u0000-\u0008\u000a-\u001f\u007f]/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const allControlCharacters = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

/** Header values are written as given: a line break in one would become a header of its own (S22). */
export function headerValue(value: string): string {
  return controlCharacters.test(value) ? value.replace(allControlCharacters, "") : value;
}
