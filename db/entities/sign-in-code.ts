import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The newest sign-in code of an account; an older one is void with it (GW-04, S4). */
export const SignInCodeSchema = defineEntity({
  name: "SignInCode",
  tableName: "sign_in_codes",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** HMAC of account and code (server/platform/security/one-time-codes.ts). */
    codeHash: p.string().length(64).hidden(),
    /** How it was sent: a code that came by mail also proves the address (GW-05). */
    channel: p.enum(["email", "sms"]),
    /** The address it was asked for with; void when the account has another one meanwhile. */
    emailKey: p.string().length(254),
    tries: p.integer().default(0),
    expiresAt: p.datetime(),
    /** Codes made since `windowStartedAt`. */
    issued: p.integer().default(1),
    windowStartedAt: p.datetime().index("sign_in_codes_window_started_at_index"),
  },
});

export type SignInCode = InferEntity<typeof SignInCodeSchema>;
