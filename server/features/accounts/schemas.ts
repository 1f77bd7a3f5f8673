import Type, { type Static } from "typebox";
import type { SignedIn } from "../../../db/queries/accounts/players.ts";
import { addressOf, usernameForm, usernamePattern } from "../../platform/text/account-names.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { newNameForm } from "../../platform/text/name-rules.ts";
import "./domain/password-rules.ts";
import "../../platform/time/time-zones.ts";
import {
  DisplayName,
  Email,
  NewPassword,
  OptionalText,
  rolesOf,
  timeOrNull,
  Username,
} from "../sessions/schemas.ts";
import { NullableTimestamp } from "../../platform/schemas.ts";

export const RegisterBody = Type.Object({
  email: Email,
  username: Username,
  password: NewPassword,
  display_name: Type.Optional(DisplayName),
});

/** Any text is accepted; an invalid one is not available (USR-04). */
export const CheckBody = Type.Object({
  email: Type.Optional(OptionalText),
  username: Type.Optional(OptionalText),
});

const Availability = Type.Object({ available: Type.Boolean() });

export const CheckResult = Type.Object({
  email: Type.Optional(Availability),
  username: Type.Optional(Availability),
});

const nullable = (rule: object) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"], ...rule }));

export const ProfileBody = Type.Object({
  email: nullable({ format: "email", maxLength: 320, description: "a mail address" }),
  username: nullable({ pattern: usernamePattern, description: usernameForm }),
  display_name: nullable({
    // A name older than the rules may be sent back unchanged; the handler refuses new ones.
    format: "display-name",
    description: newNameForm(),
  }),
  timezone: nullable({ format: "time-zone", description: "an IANA identifier, as Europe/Berlin" }),
});

const Password = Type.String({ minLength: 1 });

/** An invalid new password has its own error code (USR-05). */
export const PasswordBody = Type.Object({ current_password: Password, new_password: Password });

export const InitialPasswordBody = Type.Object({
  password: Type.String({
    minLength: 8,
    maxLength: 128,
    format: "strong-password",
    description: "at least 8 characters with a letter and a digit",
  }),
});

/** USR-07 */
const Channel = Type.String({
  pattern: "^(email|sms|push):[a-z][a-z0-9_]{0,31}$",
  description: "email, sms or push with a topic, as email:account",
});

export const ChannelsBody = Type.Object({ channels: Type.Array(Channel, { maxItems: 32 }) });

/** E.164: a plus and up to fifteen digits, country code included. */
export const PhoneBody = Type.Object({
  phone: Type.String({ pattern: "^\\+[1-9][0-9]{6,14}$", description: "E.164, as +15550100" }),
});

export const PhoneCodeBody = Type.Object({ code: Type.String({ minLength: 1 }) });

export const VerifiedPhoneBody = Type.Object({
  phone: Type.String(),
  phone_verified_at: Type.String({ format: "date-time" }),
});

export const UserBody = Type.Object({
  user: Type.Object(
    {
      id: Type.Integer(),
      username: Type.String(),
      display_name: Type.String(),
      email: OptionalText,
      locale: Type.String(),
      timezone: Type.String(),
      last_login_at: NullableTimestamp,
      created_at: Type.String({ format: "date-time" }),
      email_verified_at: NullableTimestamp,
      channels: Type.Array(Type.String()),
      roles: Type.Array(Type.Enum(["ROLE_REGISTERED", "ROLE_GUEST"])),
      player_id: Type.Integer(),
    },
    { title: "User" },
  ),
});

export function presentUser(player: SignedIn): Static<typeof UserBody> {
  const { id, name, locale, timezone, channels } = player;
  return {
    user: {
      id,
      username: player.username ?? name,
      display_name: player.displayName ?? name,
      email: addressOf(player),
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
