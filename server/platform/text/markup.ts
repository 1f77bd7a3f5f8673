/** Characters that XML does not allow, even escaped. */
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Removes characters that XML does not allow. */
export const printable = (text: string) => text.replaceAll(unprintable, "");

/** Escapes untrusted text for an HTML element or a quoted attribute. */
export const escapeHtml = (text: string) =>
  printable(text).replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");
