import Type, { type Static } from "typebox";
import type { ApiKey } from "../../../db/entities/api-key.ts";
import { timestamp } from "../../platform/time/clock.ts";
import "../../platform/time/instants.ts";
import "../../platform/security/key-origins.ts";
import "../../platform/text/name-rules.ts";
import { Id, NullableTimestamp, Timestamp } from "../../platform/schemas.ts";

export const SlugParams = Type.Object({ slug: Type.String() });
export const KeyParams = Type.Object({
  slug: Type.String(),
  id: Id,
});

const Name = Type.String({
  maxLength: 128,
  format: "new-label",
  description: "text without invisible characters",
});
/** KEY-03 */
const Scope = Type.String({
  pattern: "^[a-z0-9_.:*-]{1,64}$",
  description: "1 to 64 of a-z, 0-9 and _ . : * -",
});
const maxScopes = { maxItems: 32 };
/** KEY-05 */
const Origin = Type.String({
  format: "key-origin",
  description: "a host without scheme and path, such as a.example, *.a.example or a.example:8443",
});
const maxOrigins = { maxItems: 64 };

export const CreateKeyBody = Type.Object({
  name: Name,
  scopes: Type.Array(Scope, { ...maxScopes, default: [] }),
  origins: Type.Array(Origin, { ...maxOrigins, default: [] }),
  expires_at: Type.Optional(
    Type.Unsafe<string | null>({
      type: ["string", "null"],
      format: "instant",
      description: "a timestamp, as 2030-01-31T12:00:00Z",
    }),
  ),
});

export const ChangeKeyBody = Type.Object({
  name: Type.Optional(Name),
  scopes: Type.Optional(Type.Array(Scope, maxScopes)),
  origins: Type.Optional(Type.Array(Origin, maxOrigins)),
  is_active: Type.Optional(Type.Boolean()),
});

const Key = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    prefix: Type.String(),
    scopes: Type.Array(Type.String()),
    origins: Type.Array(Type.String()),
    is_active: Type.Boolean(),
    last_used_at: NullableTimestamp,
    expires_at: NullableTimestamp,
    created_at: Timestamp,
    revoked_at: NullableTimestamp,
    revoked_reason: Type.Optional(
      Type.String({
        description:
          "reason, if anyone but the owner revoked it; address_proven: the account's address was verified, and the key had been created without that proof; address_restored: the owner of a replaced address undid the change, and the key had been created since",
      }),
    ),
  },
  { title: "ApiKey" },
);

export const KeyBody = Type.Object({ key: Key });
export const KeysBody = Type.Object({ keys: Type.Array(Key) });
export const SecretBody = Type.Object({ key: Key, plaintext: Type.String() });
export const RevokedBody = Type.Object({ revoked: Type.Literal(true) });

const timeOrNull = (date: Date | null | undefined) => (date ? timestamp(date.getTime()) : null);

export function presentKey(key: ApiKey): Static<typeof Key> {
  const { id, name, prefix, scopes, origins, isActive } = key;
  return {
    id,
    name,
    prefix,
    scopes,
    origins,
    is_active: isActive,
    last_used_at: timeOrNull(key.lastUsedAt),
    expires_at: timeOrNull(key.expiresAt),
    created_at: timestamp(key.createdAt.getTime()),
    revoked_at: timeOrNull(key.revokedAt),
    ...(key.revokedReason ? { revoked_reason: key.revokedReason } : {}),
  };
}
