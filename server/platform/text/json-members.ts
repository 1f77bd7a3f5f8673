import { endOfString } from "./exact-json.ts";

/** An object or a list that is open: its names so far, and the member or element that is being read. */
interface Open {
  names: Set<string> | null;
  at: string | number;
}

/**
 * The first member that an object of a JSON text has twice, as a path: JSON.parse keeps the last of them and
 * says nothing. Null where there is none. The text is one that JSON.parse takes.
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
        // Two spellings of one name are one member.
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
