import type { BaseEvent, BaseState, IndexRules } from "../rules.ts";
import type { Connection } from "./connection.ts";
import { indexKeys, shardOf } from "./keys.ts";
import { runScript } from "./scripts.ts";

/** A resumed worker may finish an old write; a frozen worker is killed long before this time. */
const removalKeptMs = 60_000;

/** The entries of rooms in a public list. */
export class RoomIndex {
  readonly #redis: Connection;
  readonly #rules: IndexRules<BaseState, BaseEvent>;
  readonly #keys: ReturnType<typeof indexKeys>;

  constructor(redis: Connection, rules: IndexRules<BaseState, BaseEvent>) {
    this.#redis = redis;
    this.#rules = rules;
    this.#keys = indexKeys(rules.name);
  }

  /** Writes a room's entry; returns null if none of the events concerns it. */
  update(code: string, state: BaseState, events: readonly BaseEvent[]): Promise<void> | null {
    const change = this.#rules.change(state, events);
    return change === "none" ? null : this.#rewrite(code, state, change === "announced");
  }

  /** JSON array as text, newest first, with the current server time in every entry. */
  async read(now: number): Promise<string> {
    const codes = await this.#redis.zrevrange(this.#keys.order, 0, this.#rules.maxEntries - 1);
    if (codes.length === 0) return "[]";
    const entries = await this.#redis.hmget(this.#keys.entries, ...codes);
    const complete = entries.flatMap((entry) =>
      entry === null ? [] : [`${entry.slice(entry.indexOf("\n") + 1)},"server_now_ms":${now}}`],
    );
    return `[${complete.join(",")}]`;
  }

  /** Codes of indexed rooms in these shards. */
  async codesIn(shards: ReadonlySet<number>): Promise<string[]> {
    const codes = await this.#redis.zrange(this.#keys.order, "0", "-1");
    return codes.filter((code) => shards.has(shardOf(code)));
  }

  async refresh(code: string, state: BaseState): Promise<void> {
    await this.#rewrite(code, state, true);
  }

  async remove(code: string): Promise<void> {
    await this.#write(code, ["", 0, ""], true);
  }

  async #rewrite(code: string, state: BaseState, isAnnounced: boolean): Promise<void> {
    const entry = this.#rules.entry(state) ?? "";
    await this.#write(code, [state.seq, this.#rules.createdAt(state), entry], isAnnounced);
  }

  /** The channel is in the same slot as the keys. */
  async #write(code: string, value: IndexValue, isAnnounced: boolean): Promise<void> {
    const { entries, order, removed } = this.#keys;
    const channel = isAnnounced ? this.#rules.name : "";
    const args = [code, ...value, removalKeptMs, channel];
    await runScript(this.#redis, "index-entry", [entries, order, removed(code)], args);
  }
}

/** The number is "" for an entry that is removed whatever its number. */
type IndexValue = [seq: number | "", createdAt: number, entry: string];
