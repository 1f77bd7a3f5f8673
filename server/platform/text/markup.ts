/** Characters XML has no place for, not even escaped. */
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Somebody's text for an XML document. */
export const printable = (text: string) => text.replaceAll(unprintable, "");

/** Somebody's text inside an element or a quoted attribute of HTML: nothing in it is markup. */
export const escapeHtml = (text: string) =>
  printable(text).replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");
