import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Windows editors and shells write a byte order mark before UTF-8; it is not part of the text. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Decodes a text file as UTF-8. */
export async function readText(path: string): Promise<string> {
  return withoutMark(await readFile(path, "utf8"));
}

export function readTextSync(path: string): string {
  return withoutMark(readFileSync(path, "utf8"));
}
