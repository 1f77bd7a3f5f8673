import { readFile, stat } from "node:fs/promises";
import { isNestedDeeper, parseExactly } from "../../server/platform/text/exact-json.ts";
import { findRepeatedMember } from "../../server/platform/text/json-members.ts";
import { ImportRefused } from "./contract.ts";

/** Maximal bytes of a JSON file of a game, which is read as a whole. */
export const maxFileBytes = 64 * 1024 * 1024;
/**
 * Maximal nesting of such a file, since adapters recurse into it. The limit of an entity is lower; a file has some
 * levels around it.
 */
export const maxFileDepth = 128;

/**
 * Parses JSON, with NaN for numbers that lose digits. Throws SyntaxError for malformed JSON, deep nesting, and a
 * repeated member, because JSON.parse would silently take the last one.
 */
export function parseText(text: string): unknown {
  if (isNestedDeeper(text, maxFileDepth))
    throw new SyntaxError(`is nested deeper than ${maxFileDepth} levels`);
  const value = parseExactly(text);
  const repeated = findRepeatedMember(text);
  if (repeated !== null) throw new SyntaxError(`${repeated} comes twice`);
  return value;
}

/**
 * Parses a JSON file of a game by the rules of `parseText`, after an optional byte order mark. Throws ImportRefused
 * with the name of an unreadable file.
 */
export function parseJsonFile(bytes: Uint8Array, name: string): unknown {
  try {
    return parseText(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw unreadable(name, error instanceof SyntaxError ? error.message : "is not UTF-8");
  }
}

/** Reads and parses a JSON file; throws ImportRefused with the path of an unreadable file. */
export async function readJsonFile(path: string): Promise<unknown> {
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) throw unreadable(path, "is not there");
  if (facts.size > maxFileBytes) throw unreadable(path, `has more than ${maxFileBytes} bytes`);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, problemOf(error));
  });
  return parseJsonFile(bytes, path);
}

export function unreadable(file: string, problem: string): ImportRefused {
  return new ImportRefused([{ entity: file, place: "", problem }]);
}

export const problemOf = (error: unknown): string =>
  error instanceof Error ? error.message : "cannot be read";
