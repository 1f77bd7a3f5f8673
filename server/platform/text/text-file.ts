import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Editors and shells of Windows put a byte order mark before UTF-8, which is no part of the text. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** A text that somebody made, as UTF-8. */
export async function readText(path: string): Promise<string> {
  return withoutMark(await readFile(path, "utf8"));
}

export function readTextSync(path: string): string {
  return withoutMark(readFileSync(path, "utf8"));
}
