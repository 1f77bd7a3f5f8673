import { readFile, stat } from "node:fs/promises";
import { isNestedDeeper, parseExactly } from "../../server/platform/text/exact-json.ts";
import { findRepeatedMember } from "../../server/platform/text/json-members.ts";
import { ImportRefused } from "./contract.ts";

/** Bytes one JSON file of a game may have, where it is read whole. */
export const maxFileBytes = 64 * 1024 * 1024;
/**
 * Levels of nesting such a file may have: adapters walk it by recursion. An entity may have fewer, and has
 * some levels around it here.
 */
export const maxFileDepth = 128;

/**
 * JSON of a file as a value, with NaN for numbers that lose digits. Throws SyntaxError where it is none, where
 * it is nested too deep, and where a member comes twice: the last one would win, and nobody would know.
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
 * A JSON file of a game as a value, read by the rules of `parseText`. A byte order mark is no part of it. Throws ImportRefused with the name of the file when it cannot be read.
 */
export function parseFile(bytes: Uint8Array, name: string): unknown {
  try {
    return parseText(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw unreadable(name, error instanceof SyntaxError ? error.message : "is not UTF-8");
  }
}

/** Reads a JSON file of the disk; throws ImportRefused with its path. */
export async function readJsonFile(path: string): Promise<unknown> {
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) throw unreadable(path, "is not there");
  if (facts.size > maxFileBytes) throw unreadable(path, `has more than ${maxFileBytes} bytes`);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, problemOf(error));
  });
  return parseFile(bytes, path);
}

export function unreadable(file: string, problem: string): ImportRefused {
  return new ImportRefused([{ entity: file, place: "", problem }]);
}

export const problemOf = (error: unknown): string =>
  error instanceof Error ? error.message : "cannot be read";
