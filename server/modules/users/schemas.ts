import Type, { type Static } from "typebox";
import type { Player } from "../../../db/entities/player.ts";
import { timestamp } from "../../core/clock.ts";
import { sessionSchemas } from "../gateway/service.ts";

const { DisplayName, Email, NewPassword, OptionalText, rolesOf, timeOrNull, Username } =
  sessionSchemas;

export const { SessionBody } = sessionSchemas;

export const RegisterBody = Type.Object({
  email: Email,
  username: Username,
  password: NewPassword,
  display_name: Type.Optional(DisplayName),
});

/** Any text may be asked for; what has the wrong form is not available (USR-04). */
export const CheckBody = Type.Object({
  email: Type.Optional(OptionalText),
  username: Type.Optional(OptionalText),
});

const Availability = Type.Object({ available: Type.Boolean() });

export const CheckResult = Type.Object({
  email: Type.Optional(Availability),
  username: Type.Optional(Availability),
});

const OptionalTimestamp = Type.Unsafe<string | null>({
  type: ["string", "null"],
  format: "date-time",
});

export const UserBody = Type.Object({
  user: Type.Object({
    id: Type.Integer(),
    username: Type.String(),
    display_name: Type.String(),
    email: OptionalText,
    locale: Type.String(),
    timezone: Type.String(),
    last_login_at: OptionalTimestamp,
    created_at: Type.String({ format: "date-time" }),
    email_verified_at: OptionalTimestamp,
    channels: Type.Array(Type.String()),
    roles: Type.Array(Type.Enum(["ROLE_REGISTERED", "ROLE_GUEST"])),
    player_id: Type.Integer(),
  }),
});

export function presentUser(player: Player): Static<typeof UserBody> {
  const { id, name, locale, timezone, channels } = player;
  return {
    user: {
      id,
      username: player.username ?? name,
      display_name: player.displayName ?? name,
      email: player.email ?? null,
      locale,
      timezone,
      last_login_at: timeOrNull(player.lastLoginAt),
      created_at: timestamp(player.createdAt.getTime()),
      email_verified_at: timeOrNull(player.emailVerifiedAt),
      channels,
      roles: rolesOf(player),
      player_id: id,
    },
  };
}
