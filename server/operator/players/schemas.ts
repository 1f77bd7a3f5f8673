import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

export const PlayerBody = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  is_guest: Type.Boolean(),
  realm: Type.String(),
  email: orNull(Type.String()),
  email_verified_at: orNull(Timestamp),
  phone_verified_at: orNull(Timestamp),
  created_at: Timestamp,
  last_login_at: orNull(Timestamp),
  deleted_at: orNull(Timestamp),
  purged_at: orNull(Timestamp),
  num_sessions: Type.Integer(),
  locked_seconds: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "null: Redis does not respond",
  }),
});

const PlayerRoomBody = Type.Object({
  kind: Type.String(),
  code: Type.String(),
  seat_id: Type.Integer(),
  taken_at: Timestamp,
  is_held: Type.Union([Type.Literal(true), Type.Null()], {
    description: "null: no process that owns the room answered",
  }),
});

export const PlayerAnswer = Type.Object({
  player: PlayerBody,
  rooms: Type.Union([Type.Array(PlayerRoomBody), Type.Null()], {
    description: "up to 20 seats of the last day, newest first; null while Redis does not respond",
  }),
});

export type PlayerAnswer = Static<typeof PlayerAnswer>;
