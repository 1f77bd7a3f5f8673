import type { ErrorCode } from "../server/platform/errors.ts";
import type { Origin } from "../server/platform/origin.ts";
import type { DeliveryRules } from "../server/platform/room-source.ts";

export type { DeliveryRules } from "../server/platform/room-source.ts";

/* What the author of a kind of room writes. `defineRoom` (kind.ts) fills in the defaults. */

/** State of one room as plain JSON; times are milliseconds since the epoch. */
export interface BaseState {
  /** Number of the last published message. The runtime counts it; rules start at 0 and pass it along. */
  readonly seq: number;
}

export interface BaseCommand {
  readonly type: string;
}

export interface BaseEvent {
  readonly type: string;
  readonly at: number;
}

export interface Rejection {
  code: ErrorCode;
  params?: Record<string, unknown>;
}

export type Decision<Event, Answer> =
  { ok: true; events: Event[]; answer: Answer } | { ok: false; rejection: Rejection };

export const accept = <Event>(...events: Event[]): Decision<Event, null> => ({
  ok: true,
  events,
  answer: null,
});

export const reject = (
  code: ErrorCode,
  params?: Record<string, unknown>,
): { ok: false; rejection: Rejection } => ({
  ok: false,
  rejection: params ? { code, params } : { code },
});

/**
 * The rules of a kind of room as pure functions, without clock, randomness or IO. `Answer` is what `decide` returns and
 * `reply` converts to a body; `Memo` is state in the owner's memory only.
 */
export interface RoomRules<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer = null,
  Memo = null,
> {
  /** Name of the kind in topics, tokens, messages, metrics and log lines; one word in lower case. */
  readonly kind: string;
  /** Decides a command: events to commit and an answer, or a refusal. `state` is null before the first event. */
  decide(state: State | null, command: Command, now: number): Decision<Event, Answer>;
  /** The state after an event, as a new object. */
  evolve(state: State | null, event: Event): State;
  /** The public view; by default the answer to each command and the data of each message. */
  snapshot(state: State, now: number): Record<string, unknown>;
  /** The message that each event publishes; other events publish nothing. */
  readonly messages: Readonly<Partial<Record<Event["type"], string | null>>>;
  /** Refusal of a command for a room that does not exist. */
  readonly notFound: ErrorCode;
  /** The command that changes nothing and answers `{"<kind>": snapshot}` to any caller. */
  readonly read: Command;
  /** The command for a passed deadline; harmless if none has passed. */
  readonly tick: Command;

  /** Earliest time at which `tick` may have work; null = never, the default. */
  nextDeadline?(state: State): number | null;
  /** Whether it is over: it stays readable for `limits.finishedTtlMs`, another one for 48 hours after a change (LOB-32). */
  isFinished?(state: State): boolean;
  /** JSON text of the response body, given the state right after the events; null without a body. */
  reply?(state: State, answer: Answer, now: number): string | null;
  /** Data of a published message, given the state right after its event. */
  message?(state: State, event: Event): Record<string, unknown>;
  /** Who does not receive a message; default: everyone receives everything. */
  readonly delivery?: DeliveryRules;
  readonly jobs?: Readonly<Record<string, RoomJob<State, Command, Event>>>;
  /** Stored in field `r` of a finished room, for the job that processes it. */
  result?(state: State): unknown;
  /** Default: a command that names its sender as `by` is idempotent. */
  readonly idempotency?: IdempotencyRules<State, Command, Event, Answer>;
  /** Default: no limit of commands; a finished room is readable for a day. */
  readonly limits?: RoomLimits<Command>;
  readonly ephemeral?: EphemeralRules<State, Command, Memo>;
  readonly index?: IndexRules<State, Event>;
  /** The command that reports how many streams without a seat a process has (HUB-08); default: they are not counted. */
  spectators?(nodeId: string, count: number): Command;

  /* For operators. */

  /** Status of the public view; default: the member `status` of the snapshot, null if it has none. */
  status?(state: State, now: number): string | null;
  /** What operators see of a room in memory, beyond what every kind has. */
  describe?(state: State): unknown;

  /** Prefix of all keys and channels of the kind; default: `<kind>:`. Must never change. */
  readonly keyPrefix?: string;
}

/**
 * A side effect requested by a commit. It runs at least once: after the event, and again by the next owner
 * of the room, until its final command makes it no longer pending.
 */
export interface RoomJob<State, Command, Event extends BaseEvent> {
  readonly startedBy: Event["type"];
  isPending(state: State): boolean;
  /**
   * Start of a pending job's wait; it is retried after a share of that time. Without this function only
   * deadlines retry it.
   */
  pendingSince?(state: State): number;
  /** Does the work and resolves to the command that records it. `origin`: the last command that changed the room. */
  run(state: State, code: string, origin: Origin): Promise<Command>;
}

/** Cached answers of one room by sender, for rules that must recognize a departed sender. */
export interface AnswersById {
  /** Whether an answer of this sender is cached. */
  has(sender: number): boolean;
  /** Senders with an answer under this command id, and the account stored with it. */
  withId(id: string): Iterable<{ sender: number; account?: number }>;
}

/** Rules for the cache of answers, which makes repeated commands idempotent. */
export interface IdempotencyRules<
  State,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer,
> {
  /** The sender whose window caches the answer to a command; null caches nothing. */
  senderOf(state: State | null, command: Command, id: string, answers: AnswersById): number | null;
  /** Whether the command is idempotent by itself, so that its answer need not be cached. */
  isIdempotent?(command: Command, answer: Answer): boolean;
  /** Whether the answer is cached under a client's key even if the command changed nothing. */
  isAlwaysRemembered?(command: Command): boolean;
  /** Whether a refusal of such a command is as final as an answer. */
  isFinalRefusal?(code: ErrorCode, state: State | null): boolean;
  /** Events with the commands whose cached answers they invalidate. */
  readonly voids?: Partial<Record<Event["type"], Command["type"]>>;
  /** The remaining senders, if one of the events removed some; null if nobody left. */
  presentAfter?(state: State, events: readonly Event[]): ReadonlySet<number> | null;
  /** The account to store with the answer of a command by which its sender leaves; null for other commands. */
  leaverOf?(state: State | null, command: Command, sender: number | null): Leaver | null;
}

/** A sender that leaves by its command. */
export interface Leaver {
  account: number | null;
}

/** Limit of commands per sender and time window. The owner of the room counts, so the count is exact. */
export interface SenderLimit {
  max: number;
  windowMs: number;
}

export interface RoomLimits<Command extends BaseCommand> {
  /** How long a finished room stays readable. */
  readonly finishedTtlMs: number;
  /** null = unlimited. */
  readonly perSender: SenderLimit | null;
  /** Command types that count against another limit. */
  readonly uncounted?: readonly Command["type"][];
}

/** State that the owner of a room keeps in memory only; it starts empty with each owner. */
export interface EphemeralRules<State, Command extends BaseCommand, Memo> {
  create(state: State | null, now: number): Memo;
  /** Completes commands with this state. */
  complete(memo: Memo, command: Command, now: number): Command;
  /** When this state requires a tick; null = never. */
  nextDeadline(memo: Memo, state: State, now: number): number | null;
}

/** How the commands of a commit change the index. */
export type IndexChange = "none" | "silent" | "announced";

/** A public list of rooms, newest first. */
export interface IndexRules<State, Event extends BaseEvent> {
  /** Used in the keys; also the channel of changes. */
  readonly name: string;
  readonly maxEntries: number;
  /** JSON text of an entry without its closing brace, to which the reader appends the time; null = not listed. */
  entry(state: State): string | null;
  createdAt(state: State): number;
  change(state: State, events: readonly Event[]): IndexChange;
}
