import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { randomId } from "../core/ids.ts";
import { familyOf, idOf, idText, type Entry, type Family } from "./families.ts";

const script = (name: string) => readFileSync(new URL(`./${name}.lua`, import.meta.url), "utf8");
const applyScript = script("apply");
const publishScript = script("publish");
const readScript = script("read");

/** All keys of the boards lie in one slot of a cluster: their scripts need several at once. */
const base = "{boards}";
const openKey = `${base}:open`;
const batchKey = `${base}:batch`;
const hashKey = (name: string) => `${base}:${name}:ties`;
const setKey = (name: string, tab: string) => `${base}:${name}:${tab}`;
const buildingKey = (name: string) => `${base}:building:${name}`;
const keysOf = (family: Family, name = family.name) => [
  hashKey(name),
  ...family.tabs.map((tab) => setKey(name, tab)),
];

/** Entries of one script call: a few milliseconds, others wait no longer than that. */
const entriesPerCall = 250;
/** A board that nobody finishes building is gone after this. */
const buildingMs = 60_000;

/** One line of a board. */
export interface Line {
  id: number;
  rank: number;
  value: number;
  member: string;
}

export interface View {
  /** Last batch that Redis has; -1 = none. */
  batch: number;
  total: number;
  page: Line[];
  /** Of the ids asked for, in their order; null = not on the board. */
  places: (Line | null)[];
  around: Line[];
}

export interface Question {
  family: Family;
  tab: string;
  /** Page from an index; null = none. */
  page: { start: number; count: number } | null;
  ids: readonly number[];
  /** Lines around the first id; null = none. */
  radius: number | null;
}

/** What Redis has, as one process saw it last. */
export interface Held {
  /** Of this write alone: whoever finds another one there knows that somebody else wrote. */
  text: string;
  /** Whatever is noted with this number or a lower one is there; -1 = nothing is known. */
  batch: number;
  /** The writer had seen all changes of its moment. */
  isWhole: boolean;
  /** Names of the boards. */
  open: readonly string[];
}

const partial = "~";
const heldOf = (text: string, open: readonly string[]): Held => ({
  ...{ text, open },
  batch: text === "" ? -1 : parseInt(text, 10),
  isWhole: !text.endsWith(partial),
});
/** Redis as it is when it is empty. */
export const nothing: Held = heldOf("", []);
const nextText = (batch: number, isWhole = true) =>
  `${batch}:${randomId()}${isWhole ? "" : partial}`;

type RawView = [
  batch: string,
  total: number,
  firstRank: number,
  page: string[],
  places: ([rank: number, score: string, member: string] | null)[],
  aroundIndex: number,
  around: string[],
];

/** Null when the board is not in Redis. */
export async function readView(redis: Redis, now: number, asked: Question): Promise<View | null> {
  const { family, tab, page, ids, radius } = asked;
  const { name, isUnique } = family;
  const keys = [openKey, batchKey, hashKey(name), setKey(name, tab)];
  const last = page === null ? -2 : page.start + page.count - 1;
  const raw = (await redis.eval(
    readScript,
    keys.length,
    ...keys,
    name,
    now,
    family.tabs.indexOf(tab) + 1,
    isUnique ? "1" : "0",
    page?.start ?? -1,
    last,
    radius ?? -1,
    ...ids.map(idText),
  )) as RawView | null;
  if (raw === null) return null;
  const [batch, total, firstRank, listed, places, aroundIndex, around] = raw;
  return {
    batch: heldOf(batch, []).batch,
    total,
    page: linesOf(listed, page?.start ?? 0, firstRank, isUnique),
    places: places.map((place) => (place ? lineOf(place[2], place[1], place[0]) : null)),
    around: linesOf(around, aroundIndex, aroundIndex + 1, true),
  };
}

function lineOf(member: string, score: string, rank: number): Line {
  // Kept negative, so that the highest comes first; there is no -0 on the wire.
  return { id: idOf(member), rank, value: -Number(score) || 0, member };
}

/** Equal values share the rank of the first of them, the others have that of their place. */
function linesOf(listed: string[], start: number, firstRank: number, isUnique: boolean): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at + 1 < listed.length; at += 2) {
    const line = lineOf(listed[at] ?? "", listed[at + 1] ?? "", start + at / 2 + 1);
    const before = lines.at(-1);
    if (before === undefined) line.rank = firstRank;
    else if (!isUnique && before.value === line.value) line.rank = before.rank;
    lines.push(line);
  }
  return lines;
}

/** Entries of one board as they are now; `ids` without an entry leave. */
export interface Update {
  family: Family;
  ids: readonly number[];
  entries: readonly Entry[];
}

/** Keys and arguments of `apply.lua` for one board. */
function partOf({ family, ids, entries }: Update, name: string | null) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const lines = ids.flatMap((id) => {
    const places = byId.get(id)?.places;
    if (places === undefined) return [idText(id), "0"];
    return [idText(id), "1", ...places.flatMap(({ value, tie }) => [String(value), tie])];
  });
  return {
    keys: keysOf(family, name ?? family.name),
    args: [name === null ? family.name : "", family.tabs.length, ids.length, ...lines],
  };
}

/** In parts of one script call each; there is one at least. */
function callsOf(updates: readonly Update[]): Update[][] {
  const calls: Update[][] = [[]];
  let room = entriesPerCall;
  for (const update of updates)
    for (let at = 0; at < update.ids.length;) {
      const ids = update.ids.slice(at, at + room);
      calls.at(-1)?.push({ ...update, ids });
      at += ids.length;
      room -= ids.length;
      if (room === 0) {
        calls.push([]);
        room = entriesPerCall;
      }
    }
  return calls;
}

/** Puts entries on a board that is being built under another name. */
export async function fillBuilt(redis: Redis, update: Update, name: string): Promise<void> {
  for (const call of callsOf([update])) {
    const parts = call.map((one) => partOf(one, name));
    const keys = [batchKey, openKey, ...parts.flatMap((one) => one.keys)];
    await redis.eval(applyScript, keys.length, ...keys, "*", "", ...parts.flatMap((p) => p.args));
  }
}

/**
 * Returns what Redis has then, and whether that is this batch: somebody else may have been faster.
 * `onSent` is called when the last of it is on its way.
 */
export async function writeBatch(
  redis: Redis,
  held: Held,
  batch: { number: number; isWhole: boolean; updates: readonly Update[] },
  onSent: () => void,
): Promise<{ isDone: boolean; held: Held }> {
  let { text } = held;
  const calls = callsOf(batch.updates);
  for (const [n, call] of calls.entries()) {
    const isLast = n === calls.length - 1;
    const next = isLast ? nextText(batch.number, batch.isWhole) : nextText(held.batch, false);
    const parts = call.map((one) => partOf(one, null));
    const keys = [batchKey, openKey, ...parts.flatMap((one) => one.keys)];
    const args = [text, next, ...parts.flatMap((one) => one.args)];
    const answer = redis.eval(applyScript, keys.length, ...keys, ...args);
    if (isLast) onSent();
    const found = (await answer) as [batch: string, open: string[]] | null;
    if (found !== null) return { isDone: false, held: heldOf(...found) };
    text = next;
  }
  return { isDone: true, held: heldOf(text, held.open) };
}

export async function readHeld(redis: Redis): Promise<Held> {
  // Separately: what is opened in between changes the batch too, and then nothing can be written.
  const text = await redis.get(batchKey);
  return heldOf(text ?? "", await redis.hkeys(openKey));
}

/** Names of the boards in Redis and when they were last read, in milliseconds since the epoch. */
export async function listOpen(redis: Redis): Promise<Map<string, number>> {
  const all = await redis.hgetall(openKey);
  return new Map(Object.entries(all).map(([name, at]) => [name, Number(at)]));
}

/** Forgets every board: each is built again when it is asked for. */
export async function closeAll(redis: Redis): Promise<void> {
  const open = (await redis.hkeys(openKey)).flatMap((name) => familyOf(name) ?? []);
  await redis.unlink(openKey, batchKey, ...open.flatMap((family) => keysOf(family)));
}

export async function closeBoard(redis: Redis, family: Family): Promise<void> {
  await redis
    .multi()
    .hdel(openKey, family.name)
    .unlink(...keysOf(family))
    .exec();
}

/** True for one process at a time; it keeps the claim by claiming again with the same token. */
export async function claimBuilding(redis: Redis, family: Family, token: string): Promise<boolean> {
  const key = buildingKey(family.name);
  if ((await redis.set(key, token, "PX", buildingMs, "NX")) === "OK") return true;
  if ((await redis.get(key)) !== token) return false;
  await redis.pexpire(key, buildingMs);
  return true;
}

export async function releaseBuilding(redis: Redis, family: Family): Promise<void> {
  await redis.del(buildingKey(family.name));
}

/** Keys of an unfinished board must not stay when its builder dies. */
export async function expireBuilt(redis: Redis, family: Family, name: string): Promise<void> {
  for (const key of keysOf(family, name)) await redis.pexpire(key, buildingMs);
}

export async function dropBuilt(redis: Redis, family: Family, name: string): Promise<void> {
  await redis.unlink(...keysOf(family, name));
}

/** False when somebody wrote since `held`. */
export async function publishBuilt(
  redis: Redis,
  { family, name }: { family: Family; name: string },
  held: Held,
  now: number,
): Promise<boolean> {
  const places = keysOf(family);
  const pairs = keysOf(family, name).flatMap((built, at) => [built, places[at] ?? built]);
  const keys = [batchKey, openKey, ...pairs];
  const args = [held.text, nextText(held.batch, held.isWhole), family.name, now];
  return (await redis.eval(publishScript, keys.length, ...keys, ...args)) === 1;
}
