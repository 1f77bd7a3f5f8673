import { endOfString } from "./exact-json.ts";

/** An open object or list: its names so far, and the current member or element. */
interface Open {
  names: Set<string> | null;
  at: string | number;
}

/**
 * Path of the first duplicate member in a JSON text, of which JSON.parse silently keeps the last. Null without one.
 * The text must be valid JSON.
 */
export function findRepeatedMember(text: string): string | null {
  const open: Open[] = [];
  let string = "";
  for (let i = 0; i < text.length; i++) {
    const inner = open.at(-1);
    switch (text[i]) {
      case '"': {
        const end = endOfString(text, i);
        string = text.slice(i, end + 1);
        i = end;
        break;
      }
      case "{":
        open.push({ names: new Set(), at: "" });
        break;
      case "[":
        open.push({ names: null, at: 0 });
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        if (typeof inner?.at === "number") inner.at++;
        break;
      case ":":
        // Escaped and plain spellings of a name are the same member.
        string = String(JSON.parse(string));
        if (inner) inner.at = string;
        if (inner?.names?.has(string)) return placeOf(open);
        inner?.names?.add(string);
    }
  }
  return null;
}

/** `data.levels[2].name` */
const placeOf = (open: readonly Open[]): string =>
  open
    .map(({ at }, depth) => (typeof at === "number" ? `[${at}]` : depth === 0 ? at : `.${at}`))
    .join("");
