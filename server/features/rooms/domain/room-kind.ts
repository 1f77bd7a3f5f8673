import Type, { type TObject, type TSchema } from "typebox";
import type { RoomsDeps, RoomShare } from "../../../../actors/index.ts";
import type { ErrorCode } from "../../../platform/errors.ts";

/** Access checks of a room; the hub calls them when a stream begins. */
export interface RoomAccess {
  /**
   * Rejects if the seat does not exist, because a token is valid longer than its seat. Clients treat
   * `hub:topic_forbidden` as final.
   */
  seat(code: string, seatId: number): Promise<void>;
  /** Whether the seat exists, asked for another stream: no sign of its player. Without it, it is not known. */
  isHeld?(code: string, seatId: number): Promise<boolean>;
  /**
   * Rejects unless anyone may watch; resolves to the number of the newest message. Without it there are no
   * spectators.
   */
  spectator?(code: string): Promise<number>;
}

/** What operators see of a room beyond its state. */
export interface RoomFacts {
  /** Its seats, without names. */
  members: { seatId: number; playerId: number | null }[];
  /** The job that stores its result, once it is over. */
  resultJob: { queue: string; id: string } | null;
}

/** One kind of room; `server/app/rooms.ts` lists all kinds. */
export interface RoomKind<Deps, Rooms extends RoomShare> {
  /** Its name, as in its rules. */
  readonly kind: string;
  /**
   * Joins the processes that share the rooms of the kind. `share`: the options that `createRooms` gets for
   * every kind.
   */
  open(deps: Deps, share: RoomsDeps): Promise<Rooms>;
  /** Without it anyone may follow a room, without a token. */
  access?(rooms: Rooms): RoomAccess;
  /** Shown to operators; null if the room does not exist. Without it they see what every kind has. */
  facts?(rooms: Rooms, code: string): Promise<RoomFacts | null>;
  /** Errors of `access`, besides those of every stream. */
  readonly accessErrors?: readonly ErrorCode[];
  /**
   * Schemas of the hub's messages, for the OpenAPI document: `plainMessages` or `roomMessages`, and `listMessage` with
   * an index.
   */
  readonly messages: readonly TSchema[];
}

/** The part of the rules from which the messages of a kind derive. */
interface Publishing<Kind extends string, Message extends string> {
  readonly kind: Kind;
  readonly messages: Readonly<Record<string, Message | null | undefined>>;
}

/** Schemas of the data of all messages of a kind; `Own` are those that have more than the room. */
type MessageData<Kind extends string, Message extends string, View extends TSchema, Own> = {
  [T in Message | `${Kind}.snapshot` | `${Kind}.gap`]: T extends keyof Own
    ? Own[T]
    : T extends `${Kind}.gap`
      ? typeof Nothing
      : TObject<Record<Kind, View>>;
};

const Nothing = Type.Object({}, { additionalProperties: false });

/**
 * Schemas of the data of a kind's messages: of its snapshot, of each message that its rules publish, and of a gap.
 * Their data is the room, of which `view` is the schema, where `own` has no other one.
 */
export function messageDataOf<
  Kind extends string,
  Message extends string,
  View extends TSchema,
  Own extends Partial<Record<NoInfer<Message>, TSchema>>,
>(
  { kind, messages }: Publishing<Kind, Message>,
  view: View,
  own: Own = {} as Own,
): MessageData<Kind, Message, View, Own> {
  const room = Type.Object({ [kind]: view });
  const types = Object.values(messages).filter((type) => typeof type === "string");
  const names = [`${kind}.snapshot`, ...types];
  const data = Object.fromEntries(names.map((name) => [name, room]));
  return { ...data, ...own, [`${kind}.gap`]: Nothing } as MessageData<Kind, Message, View, Own>;
}

const topic = Type.String();
const at_ms = Type.Integer({ description: "milliseconds since the epoch" });

/** Messages of a room's topic by type, from the schemas of their data (HUB-03). */
export function roomMessages(kind: string, data: Readonly<Record<string, TSchema>>): TSchema[] {
  const seq = Type.Integer({ description: `increases by one with every message of the ${kind}` });
  return Object.entries(data).map(([type, schema]) =>
    Type.Object({ type: Type.Literal(type), topic, seq, at_ms, data: schema }, { title: type }),
  );
}

/** Messages of a kind whose data is always the room. */
export const plainMessages = (rules: Publishing<string, string>, view: TSchema): TSchema[] =>
  roomMessages(rules.kind, messageDataOf(rules, view, {}));

/** The message of a list; list messages have no numbers. */
export function listMessage(list: string, data: TSchema): TSchema {
  const type = `${list}.updated`;
  return Type.Object({ type: Type.Literal(type), topic, at_ms, data }, { title: type });
}
