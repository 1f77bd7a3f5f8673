import type { ErrorCode } from "../../server/platform/errors.ts";
import {
  roomTopic,
  type DeliveryRules,
  type OwnRoomSource,
  type RoomList,
  type SnapshotMessage,
} from "../../server/platform/room-source.ts";

export type { DeliveryRules } from "../../server/platform/room-source.ts";

/** State of one actor as plain JSON; times are milliseconds since the epoch. */
export interface BaseState {
  /** Number of the last published message. The runtime counts it; rules start it at 0 and carry it along. */
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

/** `body` is finished JSON text for the response body, or null when there is none. */
export type Reply =
  | { ok: true; body: string | null }
  | { ok: false; code: ErrorCode; params?: Record<string, unknown> };

/**
 * Work outside of the actor that a commit calls for. It runs at least once: after the event, and again by whoever
 * owns the actor next, until the command that it ends with has made it no longer pending.
 */
export interface ActorJob<State, Command, Event extends BaseEvent> {
  readonly startedBy: Event["type"];
  isPending(state: State): boolean;
  /** Since when a pending job waits: it is retried after a share of that time. Without it only deadlines retry it. */
  pendingSince?(state: State): number;
  /** Does the work; resolves to the command that takes note of it. */
  run(state: State, code: string): Promise<Command>;
}

/** Earlier answers of one actor by sender, for rules that must recognize a sender who is gone. */
export interface AnswersById {
  /** Whether anything is remembered of this sender. */
  has(sender: number): boolean;
  /** Senders with an answer under this command id, and the account that was noted with it. */
  withId(id: string): Iterable<{ sender: number; account?: number }>;
}

/** Which answers are remembered, so that a repeated command gets the same one and changes nothing. */
export interface IdempotencyRules<
  State,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer,
> {
  /** Whose window of answers a command belongs to; null remembers nothing. */
  senderOf(state: State | null, command: Command, id: string, answers: AnswersById): number | null;
  /** Commands that do no harm when they are carried out twice: their answers take no place. */
  isIdempotent?(command: Command, answer: Answer): boolean;
  /** Under a key of its client, a command's answer is remembered although it changed nothing. */
  isAlwaysRemembered?(command: Command): boolean;
  /** Whether a refusal of such a command is as final as an answer. */
  isFinalRefusal?(code: ErrorCode, state: State | null): boolean;
  /** Event -> commands whose remembered answers it makes void. */
  readonly voids?: Partial<Record<Event["type"], Command["type"]>>;
  /** Senders that are still there, when one of the events removed some; null: nobody left. */
  presentAfter?(state: State, events: readonly Event[]): ReadonlySet<number> | null;
  /** Account to note with the answer of a command by which its sender leaves; null for all other commands. */
  leaverOf?(state: State | null, command: Command, sender: number | null): Leaver | null;
}

/** A sender that leaves by its command. */
export interface Leaver {
  account: number | null;
}

/** Commands of one sender in a window of time; the owner of the actor counts, so the count is exact. */
export interface SenderLimit {
  max: number;
  windowMs: number;
}

export interface ActorLimits<Command extends BaseCommand> {
  /** A finished actor is readable for so long. */
  readonly finishedTtlMs: number;
  /** null: no limit. */
  readonly perSender: SenderLimit | null;
  /** Command types that count against another limit. */
  readonly uncounted?: readonly Command["type"][];
}

/** What the owner of an actor keeps in memory only; it begins anew with each owner. */
export interface EphemeralRules<State, Command extends BaseCommand, Memo> {
  create(state: State | null, now: number): Memo;
  /** Completes commands that need to know it. */
  complete(memo: Memo, command: Command, now: number): Command;
  /** When it calls for a tick; null when never. */
  nextDeadline(memo: Memo, state: State, now: number): number | null;
}

/** What the commands of a commit change in the index. */
export type IndexChange = "none" | "silent" | "announced";

/** A list of actors that anyone may read, newest first. */
export interface IndexRules<State, Event extends BaseEvent> {
  /** Part of the keys, and the channel on which changes are announced. */
  readonly name: string;
  readonly maxEntries: number;
  /** JSON text of an entry without the closing brace, which the reader completes with the time; null: not listed. */
  entry(state: State): string | null;
  createdAt(state: State): number;
  change(state: State, events: readonly Event[]): IndexChange;
}

/** All subscribers receive all messages. */
const toAll: DeliveryRules = {
  message: () => ({}),
  snapshot: () => ({ isPublic: true, seats: null }),
};

/**
 * One kind of actor: its rules as pure functions, without clock, randomness or IO. `Answer` is what `decide` answers
 * and `reply` turns into a body; `Memo` what an owner keeps in memory only.
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
  /** What all keys and channels of the kind begin with; never changes. */
  readonly keyPrefix: string;
  /** What a command does: events to commit and an answer, or a refusal. Reads `state` only; null before the first event. */
  decide(state: State | null, command: Command, now: number): Decision<Event, Answer>;
  /** The state after an event, as a new object. */
  evolve(state: State | null, event: Event): State;
  /** Body of an answer, given the state right after its events; JSON text, or null without a body. */
  reply(state: State, answer: Answer, now: number): string | null;
  /** Refusal of a command for an actor that does not exist. */
  readonly notFound: ErrorCode;
  /** Changes nothing and answers `{"<kind>": snapshot}`, whoever asks. */
  readonly read: Command;
  /** A deadline may have passed; harmless when it has not. */
  readonly tick: Command;
  /** Earliest time at which `tick` may have something to do; null when never. */
  nextDeadline(state: State): number | null;
  isFinished(state: State): boolean;
  /** Stored in field `r` of a finished actor, for the job that carries it on. */
  result?(state: State): unknown;
  /** Hub topic of an actor; `createActors` puts the base of all topics before it. */
  topic(code: string): string;
  /** Event -> message that it publishes; all other events are published to nobody. */
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

/** A definition as the runtime handles it, which looks into no state and no command. */
export type AnyActor = ActorDefinition<BaseState, BaseCommand, BaseEvent, unknown, unknown>;

/** What one process has of the actors of a kind. */
export interface OwnedActors<State> {
  incarnation: string;
  shards: number;
  actors: number;
  pending: number;
  /** Some of those in memory. */
  states: State[];
}

/** One process among those that share the actors of a kind. */
export interface ActorNode {
  /** Of the kind. */
  readonly keyPrefix: string;
  /** Name of the process; never used before. */
  readonly incarnation: string;
}

/** What a service does with the actors of every kind, whatever their rules. */
export interface ActorShare {
  readonly kind: string;
  /** This process, for `publishNodeDown` once it is gone. */
  readonly node: ActorNode;
  /** The actors as rooms of a hub. */
  readonly room: OwnRoomSource;
  /** The list of the index; null without one. */
  readonly list: RoomList | null;
  /** What this process owns, for operators. */
  describe(): object;
  /** Dedicated port of the process that owns an actor, as of the last heartbeat; null without one. */
  ownerPort(code: string): number | null;
  /**
   * Takes its share of the actors; before that commands are only passed on. `ownPort`: dedicated port of this
   * process, on which clients reach no other one.
   */
  join(ownPort?: number | null): Promise<void>;
  /** Gives every actor to the other processes; commands are passed on to them until `stop`. */
  handOver(): Promise<void>;
  /** Hands over what is left and closes the connections. */
  stop(): Promise<void>;
}

/** The actors of one kind, whichever process they live in. */
export interface Actors<State extends BaseState, Command extends BaseCommand> extends ActorShare {
  /**
   * Asks an actor; the answer is there after the effect is committed. Waits up to 5 s for an owner, then
   * `server:unavailable`. `key` makes a repeat of the same sender's command harmless.
   */
  ask(code: string, command: Command, key?: string): Promise<Reply>;
  /** What a new subscriber starts with, or null when there is no such actor. */
  snapshot(code: string): Promise<SnapshotMessage | null>;
  /** JSON text of the array of indexed actors, newest first. */
  listIndex(): Promise<string>;
  describe(): OwnedActors<State>;
}

/** Members of a definition that most kinds leave to `defineActor`. */
type Defaulted =
  | "keyPrefix"
  | "reply"
  | "nextDeadline"
  | "isFinished"
  | "topic"
  | "message"
  | "delivery"
  | "jobs"
  | "idempotency"
  | "limits";

/** What the author of a kind writes down. */
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
  /** What everybody may see. The answer to a command and the data of a message, unless the rules say otherwise. */
  snapshot(state: State, now: number): Record<string, unknown>;
}

/** A finished actor is readable for a day. */
const defaultFinishedTtlMs = 24 * 3_600_000;

/**
 * A kind of actor from its rules. By default every command is answered and every event published with the snapshot,
 * nothing is ever due or finished, and a command that names its sender, `by`, is carried out once.
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
    topic: (code) => roomTopic("", kind, code),
    message: (state, event) => view(state, event.at),
    delivery: toAll,
    jobs: {},
    idempotency: { senderOf: (_state, command) => senderIn(command) },
    limits: { finishedTtlMs: defaultFinishedTtlMs, perSender: null },
    ...rules,
  };
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
