import Type, { type TSchema } from "typebox";
import type { ActorsDeps, ActorShare } from "../../../../actors/index.ts";
import type { ErrorCode } from "../../../platform/errors.ts";

/** Who may follow a room; the hub asks when a stream begins. */
export interface RoomAccess {
  /** Rejects unless the seat is there: a token outlives its seat. `hub:topic_forbidden` is final for a client. */
  seat(code: string, seatId: number): Promise<void>;
  /** Rejects unless anyone may watch; resolves to the number of the newest message. Without it nobody watches. */
  spectator?(code: string): Promise<number>;
}

/** One kind of room as the service runs it: `server/app/rooms.ts` lists them. */
export interface RoomKind<Deps, Rooms extends ActorShare> {
  /** Joins the processes that share the rooms of the kind. `share`: what every kind is given, for `createActors`. */
  open(deps: Deps, share: ActorsDeps): Promise<Rooms>;
  /** Without it anyone may follow a room, without a token. */
  access?(rooms: Rooms): RoomAccess;
  /** Refusals of `access`, besides those of every stream. */
  readonly accessErrors?: readonly ErrorCode[];
  /** Schemas of what the hub sends, for the interface document: `roomMessages`, and `listMessage` with an index. */
  readonly messages: readonly TSchema[];
}

const topic = Type.String();
const at_ms = Type.Integer({ description: "milliseconds since the epoch" });

/** Messages of a room's topic from the schemas of their `data`, by type (HUB-03). */
export function roomMessages(kind: string, data: Readonly<Record<string, TSchema>>): TSchema[] {
  const seq = Type.Integer({ description: `increases by one with every message of the ${kind}` });
  return Object.entries(data).map(([type, schema]) =>
    Type.Object({ type: Type.Literal(type), topic, seq, at_ms, data: schema }, { title: type }),
  );
}

/** The message of a list, which has no numbers. */
export function listMessage(list: string, data: TSchema): TSchema {
  const type = `${list}.updated`;
  return Type.Object({ type: Type.Literal(type), topic, at_ms, data }, { title: type });
}
