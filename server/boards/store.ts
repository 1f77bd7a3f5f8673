import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { idOf, idText, type Entry, type Family } from "./families.ts";

const script = (name: string) => readFileSync(new URL(`./${name}.lua`, import.meta.url), "utf8");
const applyScript = script("apply");
const publishScript = script("publish");
const readScript = script("read");
const finishScript = script("finish");

/** All keys of the boards lie in one slot of a cluster: their scripts need several at once. */
const base = "{boards}";
const openKey = `${base}:open`;
const batchKey = `${base}:batch`;
const progressKey = `${base}:progress`;
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
    batch: Number(batch),
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

/** Puts these entries in place; `ids` without an entry leave. Returns the number of script calls. */
export async function applyEntries(
  redis: Redis,
  family: Family,
  batch: number,
  change: { ids: readonly number[]; entries: readonly Entry[]; name?: string },
): Promise<number> {
  let calls = 0;
  const byId = new Map(change.entries.map((entry) => [entry.id, entry]));
  const keys = [batchKey, progressKey, ...keysOf(family, change.name)];
  for (let at = 0; at < change.ids.length; at += entriesPerCall) {
    const args = change.ids.slice(at, at + entriesPerCall).flatMap((id) => {
      const places = byId.get(id)?.places;
      if (places === undefined) return [idText(id), "0"];
      return [idText(id), "1", ...places.flatMap(({ value, tie }) => [String(value), tie])];
    });
    const isDone = (await redis.eval(applyScript, keys.length, ...keys, batch, ...args)) === 1;
    if (!isDone) throw new OvertakenError("a later turn was first");
    calls++;
  }
  return calls;
}

/** Raised when a turn was frozen for long, or Redis lost some of it: it is taken again. */
export class OvertakenError extends Error {}

/** Names of the boards in Redis and when they were last read, in milliseconds since the epoch. */
export async function listOpen(redis: Redis): Promise<Map<string, number>> {
  const all = await redis.hgetall(openKey);
  return new Map(Object.entries(all).map(([name, at]) => [name, Number(at)]));
}

/** Begins a turn: the last batch Redis has, or null. */
export async function beginTurn(redis: Redis): Promise<number | null> {
  await redis.del(progressKey);
  const text = await redis.get(batchKey);
  return text === null ? null : Number(text);
}

/** Ends a turn of so many script calls; throws when Redis does not have every one of them. */
export async function finishTurn(
  redis: Redis,
  turn: { held: number | null; calls: number; batch: number },
): Promise<void> {
  const args = [turn.held ?? "", turn.calls, turn.batch];
  const isDone = (await redis.eval(finishScript, 2, batchKey, progressKey, ...args)) === 1;
  if (!isDone) throw new OvertakenError("Redis does not have the whole turn");
}

/** Forgets every board: each is built again when it is asked for. */
export async function closeAll(redis: Redis): Promise<void> {
  await redis.del(openKey, batchKey);
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

export async function publishBuilt(
  redis: Redis,
  family: Family,
  name: string,
  now: number,
): Promise<void> {
  const places = keysOf(family);
  const pairs = keysOf(family, name).flatMap((built, at) => [built, places[at] ?? built]);
  const keys = [openKey, ...pairs];
  await redis.eval(publishScript, keys.length, ...keys, family.name, now);
}
