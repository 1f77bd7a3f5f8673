import { createHash } from "node:crypto";
import { AppError } from "../errors.ts";
import { sourceRoot, sourceStack } from "../log/source-stack.ts";
import { cutText } from "../text/cut-text.ts";
import { maskText } from "../text/masking.ts";
import { codeAlphabet, codeLength } from "../text/room-codes.ts";
import { faultIn } from "./fault.ts";

/** Increase it with each change that moves occurrences to other groups. It begins each id of a group. */
export const groupingVersion = 1;

/** A failed attempt of a job, a response of 500 or above, or work that ended well by a fallback. */
export const occurrenceKinds = ["job", "request", "degraded"] as const;
export type OccurrenceKind = (typeof occurrenceKinds)[number];

/** What the occurrences of a group have in common. */
export interface GroupKey {
  kind: OccurrenceKind;
  /** The queue, the route, or the name of the work that fell back. */
  place: string;
  /** Of a fault or a refusal; of an untyped error the code of the system or of the store, such as `ECONNREFUSED`. */
  code: string | null;
  peer: string | null;
  status: number | null;
  /** Class, words and source function of an untyped error; null for others. */
  name: string | null;
  text: string | null;
  source: string | null;
}

export interface GroupedError {
  kind: OccurrenceKind;
  place: string;
  error: unknown;
}

const maxText = 160;
/** Characters read of a message. */
const maxRead = 1_000;
const maxPlace = 120;
const maxName = 60;
const maxCode = 60;

export function groupKeyOf({ kind, place, error }: GroupedError): GroupKey {
  const where = { kind, place: cutText(place, maxPlace) };
  const untyped = { name: null, text: null, source: null };
  const fault = faultIn(error);
  if (fault !== null) {
    const { code, peer, status } = fault;
    return { ...where, code, peer, status, ...untyped };
  }
  if (error instanceof AppError)
    return { ...where, code: error.code, peer: null, status: error.status, ...untyped };
  const { name, message, stack, code } = factsOf(error);
  return {
    ...where,
    code,
    peer: null,
    status: null,
    name: cutText(name, maxName),
    text: withoutValues(message),
    source: sourceOf(stack),
  };
}

/** The same for equal keys, in every process and version of the service with this grouping. */
export function groupIdOf(key: GroupKey): string {
  const { kind, place, code, peer, status, name, text, source } = key;
  const parts = [groupingVersion, kind, place, code, peer, status, name, text, source];
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return `${groupingVersion}-${digest.slice(0, 16)}`;
}

/** The form of an id of a group, of this version or another one. */
export const groupIdPattern = "^\\d{1,4}-[0-9a-f]{16}$";

function factsOf(error: unknown) {
  if (!(error instanceof Error))
    return { name: typeof error, message: String(error), stack: "", code: null };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    stack: error.stack ?? "",
    code: typeof code === "string" && /^\w+$/.test(code) ? code.slice(0, maxCode) : null,
  };
}

/** What differs between two occurrences of one failure, in the order in which it is replaced. */
const values: readonly [pattern: RegExp, shown: string][] = [
  [/"[^"]{0,200}"|'[^']{0,200}'|`[^`]{0,200}`/g, "<value>"],
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]{1,1000}/gi, "<address>"],
  [/[^\s@<>"',;:/]{1,64}@[^\s@<>"',;:/]{1,255}/g, "<address>"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<value>"],
  // Hosts with a port, IPv4 and IPv6.
  [/(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])/g, "<address>"],
  [
    /\[?\b(?:[0-9a-f]{1,4}:{1,2}){2,7}[0-9a-f]{0,4}\b\]?(?::\d{1,5})?|::1(?::\d{1,5})?/gi,
    "<address>",
  ],
  [/\b[\w-]{1,63}(?:\.[\w-]{1,63})*:\d{1,5}\b/g, "<address>"],
  [/(?:\/[\w.@~-]{1,100}){2,20}\/?/g, "<path>"],
  [new RegExp(`(?<![\\w-])[${codeAlphabet}]{${codeLength}}(?![\\w-])`, "g"), "<value>"],
  // Ids that contain a digit: hexadecimal digits, base64, names of jobs.
  [/\b(?=[\w-]{0,100}\d)[\w-]{8,200}\b/g, "<value>"],
  [/\d+(?:[.,:]\d+)*/g, "<value>"],
];

/** The words of an error without ids, numbers, addresses, room codes and quoted values. */
export function withoutValues(message: string): string {
  const start = cutText(message, maxRead).replaceAll(/\s+/g, " ").trim();
  const text = values.reduce((left, [pattern, shown]) => left.replace(pattern, shown), start);
  return maskText(text, maxText);
}

const frame = /^\s*at (?:async )?(?:(.*) \()?(\S+?):\d+:\d+\)?$/;

/**
 * The function that the first frame of our sources names, with its file and without its line, so that a change
 * elsewhere in the file keeps the group. Null if there is none.
 */
export function sourceOf(stack: string, root = sourceRoot): string | null {
  for (const line of sourceStack(stack).split("\n")) {
    const [, name = "", place = ""] = frame.exec(line) ?? [];
    const path = relativeTo(root, place);
    if (path === null || path.includes("node_modules/")) continue;
    const named = functionOf(name);
    return named === "" ? path : `${named} in ${path}`;
  }
  return null;
}

/** Stacks have addresses of files, or their paths. */
function relativeTo(root: string, place: string): string | null {
  const start = [root, root.replace("file://", "")].find((each) => place.startsWith(each));
  return start === undefined ? null : place.slice(start.length);
}

/** A bundler adds digits or underscores to names that two modules share. */
const functionOf = (name: string) =>
  name
    .replace(/ \[as .*\]$/, "")
    .replace(/^new /, "")
    .replace(/^Object\./, "")
    .replaceAll(/\b_+(?=\w)|(?<=[A-Za-z])\d+\b/g, "");

const sourceFolder = sourceRoot.replace("file://", "");

/** Frames kept of a stack. */
const maxFrames = 6;
const maxStack = 900;

/** The first frames of a stack, by the sources and without the folder of this installation; masked. */
export function shortStackOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const frames = sourceStack(error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s*at /.test(line) && !line.includes("(node:"))
    .map((line) => `  ${line.trim().replaceAll(sourceRoot, "").replaceAll(sourceFolder, "")}`);
  return maskText(frames.slice(0, maxFrames).join("\n"), maxStack);
}
