import type { ErrorCode } from "../../server/platform/errors.ts";
import type { Origin } from "../../server/platform/origin.ts";
import {
  roomTopic,
  type DeliveryRules,
  type OwnRoomSource,
  type RoomList,
  type SnapshotMessage,
} from "../../server/platform/room-source.ts";

import type { OwnerChange } from "./placement/owner-history.ts";
import type { RoomEvent } from "./storage/room-events.ts";

export type { DeliveryRules } from "../../server/platform/room-source.ts";

/** State of one actor as plain JSON; times are milliseconds since the epoch. */
export interface BaseState {
  /**
   * Sequence number of the last published message. The runtime counts it; rules start at 0 and pass it
   * along.
   */
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

/** `body` is the finished JSON text of the response body, or null without one. */
export type Reply =
  | { ok: true; body: string | null }
  | { ok: false; code: ErrorCode; params?: Record<string, unknown> };

/**
 * A side effect requested by a commit. It runs at least once: after the event, and again by the next owner
 * of the actor, until its final command makes it no longer pending.
 */
export interface ActorJob<State, Command, Event extends BaseEvent> {
  readonly startedBy: Event["type"];
  isPending(state: State): boolean;
  /**
   * Start of a pending job's wait; it is retried after a share of that time. Without this function only
   * deadlines retry it.
   */
  pendingSince?(state: State): number;
  /** Does the work and resolves to the command that records it. `origin`: the last command that changed the actor. */
  run(state: State, code: string, origin: Origin): Promise<Command>;
}

/** Cached answers of one actor by sender, for rules that must recognize a departed sender. */
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
  /**
   * The account to store with the answer of a command by which its sender leaves; null for other commands.
   */
  leaverOf?(state: State | null, command: Command, sender: number | null): Leaver | null;
}

/** A sender that leaves by its command. */
export interface Leaver {
  account: number | null;
}

/** Limit of commands per sender and time window. The owner of the actor counts, so the count is exact. */
export interface SenderLimit {
  max: number;
  windowMs: number;
}

export interface ActorLimits<Command extends BaseCommand> {
  /** How long a finished actor stays readable. */
  readonly finishedTtlMs: number;
  /** null = unlimited. */
  readonly perSender: SenderLimit | null;
  /** Command types that count against another limit. */
  readonly uncounted?: readonly Command["type"][];
}

/** State that the owner of an actor keeps in memory only; it starts empty with each owner. */
export interface EphemeralRules<State, Command extends BaseCommand, Memo> {
  create(state: State | null, now: number): Memo;
  /** Completes commands with this state. */
  complete(memo: Memo, command: Command, now: number): Command;
  /** When this state requires a tick; null = never. */
  nextDeadline(memo: Memo, state: State, now: number): number | null;
}

/** How the commands of a commit change the index. */
export type IndexChange = "none" | "silent" | "announced";

/** A public list of actors, newest first. */
export interface IndexRules<State, Event extends BaseEvent> {
  /** Used in the keys; also the channel of changes. */
  readonly name: string;
  readonly maxEntries: number;
  /**
   * JSON text of an entry without its closing brace, to which the reader appends the time; null = not
   * listed.
   */
  entry(state: State): string | null;
  createdAt(state: State): number;
  change(state: State, events: readonly Event[]): IndexChange;
}

/** Every subscriber receives every message. */
const toAll: DeliveryRules = {
  message: () => ({}),
  snapshot: () => ({ isPublic: true, seats: null }),
};

/**
 * A kind of actor: its rules as pure functions, without clock, randomness or IO. `Answer` is what `decide`
 * returns and `reply` converts to a body; `Memo` is state in the owner's memory only.
 */
export interface ActorDefinition<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer = null,
  Memo = null,
> {
  /** Name of the kind in messages and log lines; one word in lower case. */
  readonly kind: string;
  /** Prefix of all keys and channels of the kind; must never change. */
  readonly keyPrefix: string;
  /**
   * Decides a command: events to commit and an answer, or a refusal. Only reads `state`, which is null
   * before the first event.
   */
  decide(state: State | null, command: Command, now: number): Decision<Event, Answer>;
  /** The state after an event, as a new object. */
  evolve(state: State | null, event: Event): State;
  /** JSON text of the response body, given the state right after the events; null without a body. */
  reply(state: State, answer: Answer, now: number): string | null;
  /** Refusal of a command for an actor that does not exist. */
  readonly notFound: ErrorCode;
  /** The command that changes nothing and answers `{"<kind>": snapshot}` to any caller. */
  readonly read: Command;
  /** The command for a passed deadline; harmless if none has passed. */
  readonly tick: Command;
  /** Earliest time at which `tick` may have work; null = never. */
  nextDeadline(state: State): number | null;
  isFinished(state: State): boolean;
  /** Status of the public view, for operators; null if it has none. */
  status(state: State, now: number): string | null;
  /** Stored in field `r` of a finished actor, for the job that processes it. */
  result?(state: State): unknown;
  /** Hub topic of an actor; `createActors` puts the base of all topics before it. */
  topic(code: string): string;
  /** The message each event publishes; other events publish nothing. */
  readonly messages: Readonly<Partial<Record<Event["type"], string | null>>>;
  /** Data of a published message, given the state right after its event. */
  message(state: State, event: Event): Record<string, unknown>;
  readonly delivery: DeliveryRules;
  readonly jobs: Readonly<Record<string, ActorJob<State, Command, Event>>>;
  readonly idempotency: IdempotencyRules<State, Command, Event, Answer>;
  readonly limits: ActorLimits<Command>;
  readonly ephemeral?: EphemeralRules<State, Command, Memo>;
  readonly index?: IndexRules<State, Event>;
}

/** A definition as the runtime handles it, without access to its states and commands. */
export type AnyActor = ActorDefinition<BaseState, BaseCommand, BaseEvent, unknown, unknown>;

/** An actor as operators see it, whatever its rules; without the content of its state. */
export interface ActorSummary {
  code: string;
  shard: number;
  status: string | null;
  /** Number of the last published message. */
  seq: number;
  /** When `tick` may have work; null = never. */
  deadline: number | null;
}

export interface HeldActor extends ActorSummary {
  lastUsedAt: number;
  /** Commands since its owner has had it in memory, ticks included and reads not. */
  numCommands: number;
}

/** An actor that may be owned by another process. */
export interface LocatedActor extends ActorSummary {
  /** Node id of the owner; null while there is none. */
  owner: string | null;
  /** As in `HeldActor`; null if another process owns it. */
  numCommands: number | null;
  /** The last owners of its shard, newest first. */
  owners: OwnerChange[];
  /** The last published messages, newest first. */
  events: RoomEvent[];
}

/** The actors of a kind in one process, for operators. */
export interface OwnedActors {
  nodeId: string;
  shards: number;
  actors: number;
  pending: number;
  /** Some of the actors in memory. */
  held: HeldActor[];
}

/** One process among those that share the actors of a kind. */
export interface ActorNode {
  /** Key prefix of the kind. */
  readonly keyPrefix: string;
  /** Unique name of the process; never reused. */
  readonly nodeId: string;
}

/** What a service does with the actors of every kind, whatever their rules. */
export interface ActorShare {
  readonly kind: string;
  /** This process, for `publishNodeDown` after its end. */
  readonly node: ActorNode;
  /** The actors as rooms of a hub. */
  readonly room: OwnRoomSource;
  /** The list of the index; null without one. */
  readonly list: RoomList | null;
  /** What this process owns, for operators. */
  describe(): OwnedActors;
  /** Whether this process owns the shard of an actor. */
  owns(code: string): boolean;
  /** One actor for operators, whichever process owns it; null if it does not exist. */
  locate(code: string): Promise<LocatedActor | null>;
  /** Dedicated port of the process that owns an actor, as of the last heartbeat; null without one. */
  ownerPort(code: string): number | null;
  /**
   * Takes its share of the actors; before that commands are only passed on. `ownPort`: dedicated port of
   * this process; no other process listens on it.
   */
  join(ownPort?: number | null): Promise<void>;
  /** Hands every actor to other processes; commands are forwarded to them until `stop`. */
  handOver(): Promise<void>;
  /** Hands over the remaining actors and closes the connections. */
  stop(): Promise<void>;
}

/** The actors of one kind, whichever process owns them. */
export interface Actors<State extends BaseState, Command extends BaseCommand> extends ActorShare {
  /**
   * Sends a command to an actor; resolves after its effect is committed. Waits up to 5 s for an owner, then
   * answers `server:unavailable`. `key` makes a repeat of the same sender's command idempotent. `origin` goes along to
   * the owner, for the jobs that the command starts; it is not stored.
   */
  ask(code: string, command: Command, key?: string, origin?: Origin): Promise<Reply>;
  /** Snapshot for a new subscriber, or null if the actor does not exist. */
  snapshot(code: string): Promise<SnapshotMessage | null>;
  /** JSON array of the indexed actors as text, newest first. */
  listIndex(): Promise<string>;
  /** Some of the states in memory. */
  heldStates(): State[];
}

/** Members of a definition with a default in `defineActor`. */
type Defaulted =
  | "keyPrefix"
  | "reply"
  | "nextDeadline"
  | "isFinished"
  | "status"
  | "topic"
  | "message"
  | "delivery"
  | "jobs"
  | "idempotency"
  | "limits";

/** The rules that a kind of actor declares. */
export interface ActorRules<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer = null,
  Memo = null,
>
  extends
    Omit<ActorDefinition<State, Command, Event, Answer, Memo>, Defaulted>,
    Partial<Pick<ActorDefinition<State, Command, Event, Answer, Memo>, Defaulted>> {
  /** The public view; by default the answer to each command and the data of each message. */
  snapshot(state: State, now: number): Record<string, unknown>;
}

/** Default: a finished actor is readable for a day. */
const defaultFinishedTtlMs = 24 * 3_600_000;

/**
 * Defines a kind of actor from its rules. By default every command is answered with the snapshot and every
 * event publishes it, nothing is ever due or finished, and a command that names its sender as `by` is
 * idempotent.
 */
export function defineActor<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer = null,
  Memo = null,
>(
  rules: ActorRules<State, Command, Event, Answer, Memo>,
): ActorDefinition<State, Command, Event, Answer, Memo> {
  const { kind } = rules;
  const view = (state: State, now: number) => ({
    [kind]: { ...rules.snapshot(state, now), seq: state.seq },
  });
  return {
    keyPrefix: `${kind}:`,
    reply: (state, _answer, now) => JSON.stringify(view(state, now)),
    nextDeadline: () => null,
    isFinished: () => false,
    status: (state, now) => statusIn(rules.snapshot(state, now)),
    topic: (code) => roomTopic("", kind, code),
    message: (state, event) => view(state, event.at),
    delivery: toAll,
    jobs: {},
    idempotency: { senderOf: (_state, command) => senderIn(command) },
    limits: { finishedTtlMs: defaultFinishedTtlMs, perSender: null },
    ...rules,
  };
}

function statusIn({ status }: Record<string, unknown>): string | null {
  return typeof status === "string" ? status : null;
}

function senderIn(command: BaseCommand): number | null {
  return "by" in command && typeof command.by === "number" ? command.by : null;
}

export function accept<Event>(...events: Event[]): Decision<Event, null> {
  return { ok: true, events, answer: null };
}

export function reject(
  code: ErrorCode,
  params?: Record<string, unknown>,
): { ok: false; rejection: Rejection } {
  return { ok: false, rejection: params ? { code, params } : { code } };
}
