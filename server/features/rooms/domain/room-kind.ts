import Type, { type TSchema } from "typebox";
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
   * Schemas of the hub's messages, for the OpenAPI document: `roomMessages`, and `listMessage` with an
   * index.
   */
  readonly messages: readonly TSchema[];
}

const topic = Type.String();
const at_ms = Type.Integer({ description: "milliseconds since the epoch" });

/** Messages of a room's topic by type, from the schemas of their `data` (HUB-03). */
export function roomMessages(kind: string, data: Readonly<Record<string, TSchema>>): TSchema[] {
  const seq = Type.Integer({ description: `increases by one with every message of the ${kind}` });
  return Object.entries(data).map(([type, schema]) =>
    Type.Object({ type: Type.Literal(type), topic, seq, at_ms, data: schema }, { title: type }),
  );
}

/** The message of a list; list messages have no numbers. */
export function listMessage(list: string, data: TSchema): TSchema {
  const type = `${list}.updated`;
  return Type.Object({ type: Type.Literal(type), topic, at_ms, data }, { title: type });
}
