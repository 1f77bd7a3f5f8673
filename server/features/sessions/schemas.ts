import Type, { type Static } from "typebox";
import { timestamp } from "../../platform/time/clock.ts";
import { addressOf, usernameForm, usernamePattern } from "../../platform/text/account-names.ts";
import { newNameForm } from "../../platform/text/name-rules.ts";
import type { Player } from "../../../db/entities/player.ts";
import type { SignedIn } from "../../../db/queries/accounts/players.ts";
import { NullableTimestamp, Timestamp } from "../../platform/schemas.ts";

export const OptionalText = Type.Unsafe<string | null>({ type: ["string", "null"] });

export const Email = Type.String({
  format: "email",
  maxLength: 320,
  description: "a mail address",
});
const usernameRule = { pattern: usernamePattern, description: usernameForm };
export const Username = Type.String(usernameRule);
const notBlank = { pattern: "\\S", description: "more than spaces" };
/** Counted in code points (TOK-15); login refuses a blank one. */
export const NewPassword = Type.String({ minLength: 8, maxLength: 128, ...notBlank });
export const DisplayName = Type.Unsafe<string | null>({
  type: ["string", "null"],
  format: "new-name",
  description: newNameForm(),
});

export const LoginBody = Type.Object({
  identifier: Type.String({ ...notBlank, maxLength: 254 }),
  password: Type.String({ ...notBlank, maxLength: 128 }),
});

export const RefreshBody = Type.Object({
  refresh_token: Type.Optional(OptionalText),
});

export const GuestBody = Type.Object({
  username: Type.Optional(
    Type.Unsafe<string | null>({ type: ["string", "null"], ...usernameRule }),
  ),
  reclaimToken: Type.Optional(OptionalText),
});

export const UpgradeBody = Type.Object({
  email: Email,
  password: NewPassword,
  display_name: Type.Optional(DisplayName),
});

export const PlayerBody = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    is_guest: Type.Boolean(),
    roles: Type.Array(Type.Enum(["ROLE_REGISTERED", "ROLE_GUEST"])),
    avatar_url: Type.Optional(Type.String()),
    avatar: Type.Optional(
      Type.Object({
        source: OptionalText,
        icon: OptionalText,
        color: OptionalText,
        bg: OptionalText,
      }),
    ),
    email: Type.Optional(OptionalText),
    username: Type.Optional(Type.String()),
    display_name: Type.Optional(Type.String()),
    locale: Type.Optional(Type.String()),
    timezone: Type.Optional(Type.String()),
    last_login_at: Type.Optional(NullableTimestamp),
    created_at: Type.Optional(Timestamp),
    email_verified_at: Type.Optional(NullableTimestamp),
    channels: Type.Optional(Type.Array(Type.String())),
  },
  { title: "Player" },
);

export const SessionBody = Type.Object(
  {
    access_token: Type.String(),
    refresh_token: Type.String(),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer(),
    player: PlayerBody,
    /** Guests only. */
    reclaim_token: Type.Optional(Type.String()),
  },
  { title: "Session" },
);
export type SessionBody = Static<typeof SessionBody>;

export const ValidateBody = Type.Object(
  {
    valid: Type.Literal(true),
    player_id: Type.Integer(),
    roles: Type.Array(Type.String()),
    realm: Type.String(),
    expires_at: Timestamp,
  },
  { title: "TokenFacts" },
);

export const rolesOf = (player: Pick<Player, "isGuest">): ("ROLE_REGISTERED" | "ROLE_GUEST")[] => [
  player.isGuest ? "ROLE_GUEST" : "ROLE_REGISTERED",
];

export const timeOrNull = (date: Date | null | undefined): string | null =>
  date ? timestamp(date.getTime()) : null;

/** A guest's payload has its identity only (document 1, Player). */
export function presentPlayer(player: SignedIn): Static<typeof PlayerBody> {
  const { id, name, isGuest, locale, timezone, channels } = player;
  const base = { id, name, is_guest: isGuest, roles: rolesOf(player) };
  if (isGuest) return base;
  return {
    ...base,
    avatar_url: `/v1/players/${id}/avatar?v=${player.avatarV}`,
    avatar: {
      source: player.avatarSource ?? null,
      icon: player.avatarIcon ?? null,
      color: player.avatarColor ?? null,
      bg: player.avatarBg ?? null,
    },
    email: addressOf(player),
    username: player.username ?? name,
    display_name: player.displayName ?? name,
    locale,
    timezone,
    last_login_at: timeOrNull(player.lastLoginAt),
    created_at: timestamp(player.createdAt.getTime()),
    email_verified_at: timeOrNull(player.emailVerifiedAt),
    channels,
  };
}
