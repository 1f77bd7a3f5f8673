import { roomTopic } from "../server/platform/room-names.ts";
import type { DeliveryRules } from "../server/platform/room-source.ts";
import type { BaseCommand, BaseEvent, BaseState, RoomRules } from "./rules.ts";

/** Members of the rules with a default. */
type Defaulted =
  | "nextDeadline"
  | "isFinished"
  | "reply"
  | "message"
  | "delivery"
  | "jobs"
  | "idempotency"
  | "limits"
  | "status"
  | "keyPrefix";

/** The rules of a kind, complete, and the topic of each room. */
export type RoomKind<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer = null,
  Memo = null,
> = RoomRules<State, Command, Event, Answer, Memo> &
  Required<Pick<RoomRules<State, Command, Event, Answer, Memo>, Defaulted>> & {
    topic(code: string): string;
  };

/** A kind as the runtime handles it, without access to its states and commands. */
export type AnyKind = RoomKind<BaseState, BaseCommand, BaseEvent, unknown, unknown>;

/** Default: a finished room is readable for a day. */
const defaultFinishedTtlMs = 24 * 3_600_000;

/** Every subscriber receives every message. */
const toAll: DeliveryRules = {
  message: () => ({}),
  snapshot: () => ({ isPublic: true, seats: null }),
};

/** Defines a kind of room from its rules: adds what they leave out. */
export function defineRoom<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer = null,
  Memo = null,
>(
  rules: RoomRules<State, Command, Event, Answer, Memo>,
): RoomKind<State, Command, Event, Answer, Memo> {
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
