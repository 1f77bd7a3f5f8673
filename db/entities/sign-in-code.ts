import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The newest sign-in code of an account; it voids older ones (GW-04, S4). */
export const SignInCodeSchema = defineEntity({
  name: "SignInCode",
  tableName: "sign_in_codes",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** HMAC of account and code (server/platform/security/one-time-codes.ts). */
    codeHash: p.string().length(64).hidden(),
    /** Delivery channel: a code received by mail also verifies the address (GW-05). */
    channel: p.enum(["email", "sms"]),
    /** The address it was requested with; the code is void once the account has another address. */
    emailKey: p.string().length(254),
    tries: p.integer().default(0),
    expiresAt: p.datetime(),
    /** Codes created since `windowStartedAt`. */
    issued: p.integer().default(1),
    windowStartedAt: p.datetime().index("sign_in_codes_window_started_at_index"),
  },
});

export type SignInCode = InferEntity<typeof SignInCodeSchema>;
