import type { ErrorCode } from "../server/platform/errors.ts";
import type { Reply } from "./contract.ts";
import type { AnswersById, Leaver } from "./rules.ts";

/** Id of a command with a client's idempotency key, equal for every repeat. */
export const keyedId = (type: string, key: string) => `c.${type}.${key}`;

/** An answer already sent to one sender. */
interface Remembered {
  n: number;
  id: string;
  body: string | null;
  /** Set for a refusal, which consists of this code only. */
  refused?: ErrorCode;
  /** For a command by which its sender left: the account, which the state drops together with the sender. */
  account?: number;
}

/** The stored form, as `encode` writes it. */
interface Stored {
  n: number;
  id: string;
  account?: number;
  reply: { ok: true; body: string | null } | { ok: false; code: ErrorCode };
}

/** A field of the stored room: name and value. */
type Field = [name: string, value: string];

/** Number of cached answers per sender. */
const windowSize = 8;
/** Number of departed senders kept per room. */
const maxDeparted = 16;

const fieldOf = (sender: number, n: number) => `k:${sender}:${n % windowSize}`;

/**
 * The last answers of each sender, in the slot given by the answer's number modulo the window size. The
 * window is per sender, because one shared by all senders of a room would evict answers under load
 * (LOB-28).
 */
export class CachedAnswers implements AnswersById {
  readonly #senders = new Map<number, Remembered[]>();

  /** Rebuilds the windows. A hash has no order, so each entry contains its number. */
  static from(fields: Record<string, string>): CachedAnswers {
    const cache = new CachedAnswers();
    for (const [name, value] of Object.entries(fields)) {
      if (!name.startsWith("k:")) continue;
      const sender = Number(name.split(":")[1]);
      const entries = cache.#senders.get(sender) ?? [];
      const { n, id, account, reply } = JSON.parse(value) as Stored;
      const answer = reply.ok ? { body: reply.body } : { body: null, refused: reply.code };
      entries.push({ n, id, ...answer, ...(account === undefined ? {} : { account }) });
      cache.#senders.set(sender, entries);
    }
    for (const entries of cache.#senders.values())
      entries.sort((a, b) => (a.n % windowSize) - (b.n % windowSize));
    return cache;
  }

  has(sender: number): boolean {
    return this.#senders.has(sender);
  }

  *withId(id: string): Generator<{ sender: number; account?: number }> {
    for (const [sender, entries] of this.#senders) {
      const entry = entries.find((one) => one.id === id);
      if (entry === undefined) continue;
      yield entry.account === undefined ? { sender } : { sender, account: entry.account };
    }
  }

  senders(): number[] {
    return [...this.#senders.keys()];
  }

  get(sender: number, id: string): Reply | null {
    const entries = this.#senders.get(sender);
    if (entries !== undefined)
      for (const entry of entries) if (entry.id === id) return replyOf(entry);
    return null;
  }

  /** Caches an answer and returns the field that stores it. */
  put(sender: number, id: string, body: string | null, leaver: Leaver | null = null): Field {
    const n = this.#next(sender);
    const account = leaver?.account ?? null;
    const entry: Remembered = account === null ? { n, id, body } : { n, id, body, account };
    return this.#keep(sender, entry, leaver !== null);
  }

  /** Caches a refusal that consists of its code only, and returns the field that stores it. */
  putRefusal(sender: number, id: string, refused: ErrorCode): Field {
    return this.#keep(sender, { n: this.#next(sender), id, body: null, refused }, false);
  }

  /**
   * Evicts senders that left, except the latest ones: a repeat of the command by which they left still
   * finds its answer, and players who come and go do not accumulate in Redis. Returns the fields to remove.
   */
  removeDeparted(present: ReadonlySet<number>): string[] {
    const departed = this.senders().filter((sender) => !present.has(sender));
    const removed: string[] = [];
    for (const sender of departed.slice(0, Math.max(0, departed.length - maxDeparted))) {
      for (const { n } of this.#senders.get(sender) ?? []) removed.push(fieldOf(sender, n));
      this.#senders.delete(sender);
    }
    return removed;
  }

  /**
   * Invalidates the cached answers to keyed commands of this type, so that a repeat is decided again.
   * Returns the fields to store. The entries stay, without an id that could match a command, because their
   * numbers determine the slots of later entries.
   */
  invalidate(type: string): Field[] {
    const fields: Field[] = [];
    for (const [sender, entries] of this.#senders)
      for (const entry of entries) {
        if (!entry.id.startsWith(keyedId(type, ""))) continue;
        entry.id = "";
        entry.body = null;
        fields.push([fieldOf(sender, entry.n), encode(entry)]);
      }
    return fields;
  }

  #next(sender: number): number {
    let next = 0;
    for (const { n } of this.#senders.get(sender) ?? []) next = Math.max(next, n + 1);
    return next;
  }

  #keep(sender: number, entry: Remembered, hasLeft: boolean): Field {
    const entries = this.#senders.get(sender) ?? [];
    // Reinserts a leaving sender, so that the map is in order of departure.
    if (hasLeft) this.#senders.delete(sender);
    this.#senders.set(sender, withEntry(entries, entry));
    return [fieldOf(sender, entry.n), encode(entry)];
  }
}

function replyOf({ body, refused }: Remembered): Reply {
  return refused === undefined ? { ok: true, body } : { ok: false, code: refused };
}

/** In a full window the newest entry replaces the oldest. */
function withEntry(entries: Remembered[], entry: Remembered): Remembered[] {
  return entries.length < windowSize
    ? entries.concat(entry)
    : entries.with(entry.n % windowSize, entry);
}

function encode({ n, id, body, account, refused }: Remembered): string {
  const reply = refused === undefined ? { ok: true, body } : { ok: false, code: refused };
  return JSON.stringify({ n, id, ...(account === undefined ? {} : { account }), reply });
}
