import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { scriptNames, shardedText, type ScriptName, scriptPath } from "../../actors/log/scripts.ts";
// oxlint-disable-next-line import/no-cycle -- each script gets the model
import { scripts } from "./model-scripts.ts";

type Argument = string | number;

/** The part of a commit script that concerns one lobby, as executed. */
export interface StoredCommit {
  code: string;
  token: string;
  version: number;
  id: string;
  fields: [name: string, value: string][];
  removed: string[];
  /** As stored and published: the id in the stream, and number and payload as one text. */
  messages: [id: string, text: string][];
}

/** Differences of a sabotaged Redis, which the checks must detect. */
export interface StoreFaults {
  ignoresOwner?: boolean;
  ignoresVersion?: boolean;
  forgetsDeadlines?: boolean;
  claimHidesDeadlines?: boolean;
  forgetsAnswers?: boolean;
  /** Caches this many answers per lobby instead of eight per seat. */
  sharedWindow?: number;
  dropsEvent?: boolean;
  /** Accepts events whose numbers exist. */
  acceptsOldIds?: boolean;
  /** Reports that no write is lost, even if some are. */
  hidesHistory?: boolean;
  /** Reports this of each shard that is asked about after a commit without a reply. */
  countsAsIntact?: boolean;
  /** A worker that counted as dead is not told. */
  forgivesDeath?: boolean;
  /** The owners of shards count as dead. */
  findsNobodyAlive?: boolean;
  /** The public list keeps what is to be removed. */
  keepsEntries?: boolean;
  /** Never loses its scripts. */
  keepsScripts?: boolean;
}

const digests = new Map(
  scriptNames.flatMap((name) => {
    const lua = readFileSync(new URL(`../../${scriptPath(name)}`, import.meta.url), "utf8");
    return [lua, shardedText(lua)].map((text) => [digestOf(text), { name, lua: text }] as const);
  }),
);
const namesByText = new Map([...digests.values()].map(({ name, lua }) => [lua, name]));

function digestOf(lua: string): string {
  return createHash("sha1").update(lua).digest("hex");
}

/**
 * Redis as far as lobbies use it, scripts included. `model-redis.test.ts` compares it with the real one.
 * Differences that no lobby can notice: nothing expires, streams are not trimmed.
 */
export class ModelRedis {
  readonly strings = new Map<string, string>();
  readonly hashes = new Map<string, Map<string, string>>();
  readonly sorted = new Map<string, Map<string, number>>();
  readonly streams = new Map<string, [id: number, message: string][]>();
  readonly ttls = new Map<string, number>();
  readonly faults: StoreFaults;
  /** Milliseconds since the epoch by the clock of Redis. */
  readonly now: () => number;
  publish: (channel: string, message: string) => number = () => 0;
  committed: (commit: StoredCommit) => void = () => {};
  /** A shard has a new owner record, which is empty if it was released. */
  owned: (key: string, record: string, before: string) => void = () => {};
  /** Replication id of the present process (`master_replid`). */
  history = "history1";
  readonly #known = new Set<ScriptName>();
  #journal: { at: number; undo: () => void }[] | null = null;
  #clock: () => number = () => 0;

  constructor(now: () => number, faults: StoreFaults = {}) {
    this.now = now;
    this.faults = faults;
  }

  evalsha(sha: string, keyCount: number, args: readonly Argument[]): unknown {
    const script = digests.get(sha);
    if (!script || !(this.#known.has(script.name) || this.faults.keepsScripts))
      throw new Error("NOSCRIPT No matching script. Please use EVAL.");
    return this.run(script.name, keyCount, args);
  }

  eval(lua: string, keyCount: number, args: readonly Argument[]): unknown {
    const name = namesByText.get(lua);
    if (!name) throw new Error("ERR the model knows no such script");
    this.#known.add(name);
    return this.run(name, keyCount, args);
  }

  run(name: ScriptName, keyCount: number, args: readonly Argument[]): unknown {
    const texts = args.map(String);
    return scripts[name](this, texts.slice(0, keyCount), texts.slice(keyCount));
  }

  /** From here on writes can be rolled back. */
  keepJournal(clock: () => number): void {
    this.#journal = [];
    this.#clock = clock;
  }

  knowScripts(): void {
    for (const name of scriptNames) this.#known.add(name);
  }

  /** Starts a new process with the stored data; `isWhole`: its starter knows that nothing is lost. */
  restart(isOrderly: boolean): void {
    this.#known.clear();
    if (this.faults.hidesHistory) return;
    const earlier = this.history;
    this.history = `history${Number(earlier.slice("history".length)) + 1}`;
    const keys = [...this.strings.keys()].filter((key) => key.endsWith(":history"));
    if (isOrderly) this.run("continue-history", keys.length, [...keys, earlier]);
  }

  info(): string {
    return `role:master\r\nmaster_replid:${this.history}\r\n`;
  }

  /** Loses every write made after this time, like a disk that had not been synced. */
  loseAfter(time: number): void {
    const journal = this.#journal ?? [];
    for (let last = journal.at(-1); last && last.at > time; last = journal.at(-1)) {
      last.undo();
      journal.pop();
    }
  }

  #remember(undo: () => void): void {
    if (!this.#journal) return;
    this.#journal.push({ at: this.#clock(), undo });
  }

  get(key: string): string | null {
    return this.strings.get(key) ?? null;
  }

  set(key: string, value: string): void {
    const before = this.strings.get(key);
    this.strings.set(key, value);
    this.#remember(() => {
      if (before === undefined) this.strings.delete(key);
      else this.strings.set(key, before);
    });
  }

  hget(key: string, field: string): string | null {
    return this.hashes.get(key)?.get(field) ?? null;
  }

  hset(key: string, field: string, value: string): void {
    let hash = this.hashes.get(key);
    if (!hash) this.hashes.set(key, (hash = new Map()));
    const before = hash.get(field);
    hash.set(field, value);
    this.#remember(() => {
      if (before === undefined) this.#drop(this.hashes, key, field);
      else this.hashes.get(key)?.set(field, before);
    });
  }

  hdel(key: string, field: string): number {
    const before = this.hashes.get(key)?.get(field);
    if (before === undefined) return 0;
    this.#drop(this.hashes, key, field);
    this.#remember(() => {
      const hash = this.hashes.get(key) ?? new Map<string, string>();
      this.hashes.set(key, hash.set(field, before));
    });
    return 1;
  }

  hgetall(key: string): Record<string, string> {
    return Object.fromEntries(this.hashes.get(key) ?? []);
  }

  zadd(key: string, score: number, member: string): void {
    let set = this.sorted.get(key);
    if (!set) this.sorted.set(key, (set = new Map()));
    const before = set.get(member);
    set.set(member, score);
    this.#remember(() => {
      if (before === undefined) this.#drop(this.sorted, key, member);
      else this.sorted.get(key)?.set(member, before);
    });
  }

  zrem(key: string, member: string): number {
    const before = this.sorted.get(key)?.get(member);
    if (before === undefined) return 0;
    this.#drop(this.sorted, key, member);
    this.#remember(() => {
      const set = this.sorted.get(key) ?? new Map<string, number>();
      this.sorted.set(key, set.set(member, before));
    });
    return 1;
  }

  /** Members by score, then by name. */
  zrange(key: string): [member: string, score: number][] {
    const order = ([a, x]: [string, number], [b, y]: [string, number]) =>
      x - y || (a < b ? -1 : a > b ? 1 : 0);
    return [...(this.sorted.get(key) ?? [])].sort(order);
  }

  takes(key: string, id: number): boolean {
    const last = this.streams.get(key)?.at(-1)?.[0] ?? 0;
    return id > last || this.faults.acceptsOldIds === true;
  }

  xadd(key: string, id: number, message: string): void {
    let stream = this.streams.get(key);
    if (!stream) this.streams.set(key, (stream = []));
    if (!this.takes(key, id))
      throw new Error("ERR The ID specified in XADD is equal or smaller than the target stream");
    stream.push([id, message]);
    const list = stream;
    this.#remember(() => list.pop());
  }

  #drop<T>(maps: Map<string, Map<string, T>>, key: string, field: string): void {
    const map = maps.get(key);
    map?.delete(field);
    if (map?.size === 0) maps.delete(key);
  }
}
