import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { asset } from "../../../platform/assets.ts";
import { randomId } from "../../../platform/ids.ts";
import { familyOf, idOf, idText, type Entry, type Family } from "./families.ts";

const script = (name: string) =>
  readFileSync(asset(`server/features/leaderboards/domain/${name}.lua`), "utf8");
const applyScript = script("apply");
const beginScript = script("begin");
const fillScript = script("fill");
const readScript = script("read");

/** All keys of the leaderboards share one cluster slot, since their scripts use several. */
const base = "{boards}";
const openKey = `${base}:open`;
const batchKey = `${base}:batch`;
const buildingKey = `${base}:building`;
const heads = [batchKey, openKey, buildingKey];
const hashKey = (name: string) => `${base}:${name}:ties`;
const setKey = (name: string, tab: string) => `${base}:${name}:${tab}`;
const keysOf = ({ name, tabs }: Family) => [hashKey(name), ...tabs.map((tab) => setKey(name, tab))];

/** One line of a leaderboard. */
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
  /** Lines of the requested ids, in their order; null = not on the leaderboard. */
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

/** The projection state of Redis, as this process last saw it. */
export interface Checkpoint {
  /** Unique to this write: another text means that another process wrote. */
  text: string;
  /** Redis has all changes acknowledged with this number or a lower one; -1 = unknown. */
  batch: number;
  /** The writer had read all changes of its snapshot. */
  isWhole: boolean;
  /** Names of the leaderboards that are open or being built. */
  leaderboards: readonly string[];
}

/** The previous version writes no "+" and ignores leaderboards that are being built. */
const textOf = (batch: number, isWhole: boolean) => `${batch}:${randomId()}${isWhole ? "+" : "+~"}`;
const checkpointOf = (text: string, leaderboards: readonly string[]): Checkpoint => ({
  text,
  leaderboards,
  batch: text === "" ? -1 : parseInt(text, 10),
  isWhole: !text.endsWith("~"),
});
/** Checkpoint of an empty Redis. */
export const emptyCheckpoint: Checkpoint = checkpointOf("", []);

type RawView = [
  batch: string,
  total: number,
  firstRank: number,
  page: string[],
  places: ([rank: number, score: string, member: string] | null)[],
  aroundIndex: number,
  around: string[],
];

/** Null when the leaderboard is not in Redis. */
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
    batch: checkpointOf(batch, []).batch,
    total,
    page: linesOf(listed, page?.start ?? 0, firstRank, isUnique),
    places: places.map((place) => (place ? lineOf(place[2], place[1], place[0]) : null)),
    around: linesOf(around, aroundIndex, aroundIndex + 1, true),
  };
}

function lineOf(member: string, score: string, rank: number): Line {
  // Scores are negated, so that the highest comes first; -0 becomes 0 on the wire.
  return { id: idOf(member), rank, value: -Number(score) || 0, member };
}

/** Equal values share the rank of the first one; otherwise the rank is the position. */
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

/** Present entries of one leaderboard; `ids` without an entry are removed. */
export interface Update {
  family: Family;
  ids: readonly number[];
  entries: readonly Entry[];
}

const argsOf = ({ id, places }: Entry, ...mark: string[]) => [
  ...[idText(id), ...mark],
  ...places.flatMap(({ value, tie }) => [String(value), tie]),
];

/** Arguments of `apply.lua` for one leaderboard. */
function partOf({ family, ids, entries }: Update): (string | number)[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const lines = ids.flatMap((id) => {
    const entry = byId.get(id);
    return entry === undefined ? [idText(id), "0"] : argsOf(entry, "1");
  });
  return [family.name, family.tabs.length, ids.length, ...lines];
}

/** Returns the new checkpoint; null when another process wrote since `checkpoint`. */
export async function writeBatch(
  redis: Redis,
  checkpoint: Checkpoint,
  batch: { number: number; isWhole: boolean; updates: readonly Update[] },
): Promise<Checkpoint | null> {
  const text = textOf(batch.number, batch.isWhole);
  const keys = [...heads, ...batch.updates.flatMap(({ family }) => keysOf(family))];
  const args = [checkpoint.text, text, ...batch.updates.flatMap(partOf)];
  const isDone = (await redis.eval(applyScript, keys.length, ...keys, ...args)) === 1;
  return isDone ? checkpointOf(text, checkpoint.leaderboards) : null;
}

export async function readCheckpoint(redis: Redis): Promise<Checkpoint> {
  // In this order: a leaderboard begun after the checkpoint was read changes the checkpoint, and the write is
  // refused.
  const [text, leaderboards] = await Promise.all([redis.get(batchKey), listLeaderboards(redis)]);
  return checkpointOf(text ?? "", leaderboards);
}

/** In this order: a leaderboard opened in between is in one of the two lists. */
async function listLeaderboards(redis: Redis): Promise<string[]> {
  const [building, open] = await Promise.all([redis.hkeys(buildingKey), redis.hkeys(openKey)]);
  return [...new Set([...building, ...open])];
}

/** Names of the open leaderboards and when they were last read, in milliseconds since the epoch. */
export async function listOpen(redis: Redis): Promise<Map<string, number>> {
  const all = await redis.hgetall(openKey);
  return new Map(Object.entries(all).map(([name, at]) => [name, Number(at)]));
}

export const listBuilding = (redis: Redis): Promise<string[]> => redis.hkeys(buildingKey);

/** Deletes every leaderboard: each is rebuilt at its next read. */
export async function closeAll(redis: Redis): Promise<void> {
  const families = (await listLeaderboards(redis)).flatMap((name) => familyOf(name) ?? []);
  await redis.unlink(openKey, buildingKey, batchKey, ...families.flatMap(keysOf));
}

export async function closeLeaderboard(redis: Redis, family: Family): Promise<void> {
  await redis
    .multi()
    .hdel(openKey, family.name)
    .unlink(...keysOf(family))
    .exec();
}

/** Progress of a build: the id up to which it is filled, or null before it begins. */
export async function readProgress(redis: Redis, family: Family): Promise<number | "open" | null> {
  const filled = await redis.hget(buildingKey, family.name);
  if (filled !== null) return Number(filled);
  return (await redis.hexists(openKey, family.name)) === 1 ? "open" : null;
}

/** Begins a build: from now on changes are also projected to this leaderboard, which is still empty. */
export async function begin(redis: Redis, family: Family): Promise<void> {
  const keys = [...heads, ...keysOf(family)];
  await redis.eval(beginScript, keys.length, ...keys, family.name, randomId());
}

/** Fills a leaderboard after `from`; the last batch opens it. False when it is not filled up to there. */
export async function fill(
  redis: Redis,
  family: Family,
  slice: { from: number; entries: readonly Entry[]; isLast: boolean; now: number },
): Promise<boolean> {
  const { from, entries, isLast, now } = slice;
  const keys = [...heads, ...keysOf(family)];
  const to = isLast ? "" : (entries.at(-1)?.id ?? from);
  const args = [
    family.name,
    from,
    to,
    now,
    family.tabs.length,
    ...entries.flatMap((e) => argsOf(e)),
  ];
  return (await redis.eval(fillScript, keys.length, ...keys, ...args)) === 1;
}
