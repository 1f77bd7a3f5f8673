import Type from "typebox";
import { listRevocations } from "../../../db/queries/accounts/address-proofs.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import { pastedToken } from "../../platform/text/pasted.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { confirmEmail, resendVerification } from "./service.ts";
import type { VerificationDeps } from "./deps.ts";
import { NullableTimestamp, Timestamp } from "../../platform/schemas.ts";

const defineRoute = routesWith<VerificationDeps>();
const tag = "Users";

const resend = defineRoute({
  method: "POST",
  path: "/v1/users/@me/email/resend-verification",
  summary: "Send the verification mail again",
  tag,
  auth: "registered",
  source: "document 1, Users; USR-10",
  rateLimit: { max: 3, window: 600, per: "account" },
  responses: { 204: null },
  errors: [
    "user:not_found",
    "user:email_missing",
    "user:email_already_verified",
    "mail:delivery_failed",
  ],
  handler: async ({ caller, deps }) => {
    await resendVerification(deps, caller);
    return reply(204);
  },
});

const verify = defineRoute({
  method: "POST",
  path: "/v1/users/email/verify",
  summary:
    "Use a verification token; the calling page must have asked the user whether the account is theirs",
  tag,
  auth: "public",
  source: "USR-06",
  rateLimit: { max: 10, window: 60 },
  heldSecret: ({ body, deps }) =>
    deps.tokens.verify("email_verify", pastedToken(body.token))?.jti ?? null,
  body: Type.Object({ token: Type.String({ minLength: 1 }) }),
  invalid: { status: 400, code: "request:missing_field" },
  responses: { 200: null },
  errors: ["auth:token_invalid", "request:missing_field"],
  handler: async ({ body, deps }) => {
    if (!(await confirmEmail(deps, { token: body.token })))
      throw new AppError("auth:token_invalid");
    return reply(200);
  },
});

/** The newest; older ones stay stored. */
const maxListed = 500;

const RevocationList = Type.Object({
  revocations: Type.Array(
    Type.Object(
      {
        kind: Type.Enum(["session", "consent", "password", "phone", "api_key", "connection"]),
        label: Type.Unsafe<string | null>({
          type: ["string", "null"],
          description: "a browser, an application, a masked number, a key's name or a provider",
        }),
        reason: Type.String({
          description:
            "address_proven: it had been attached without proof of owning the address; address_restored: the owner of a replaced address undid the change",
        }),
        attached_at: NullableTimestamp,
        revoked_at: Timestamp,
      },
      { title: "Revocation" },
    ),
  ),
});

const revocations = defineRoute({
  method: "GET",
  path: "/v1/users/@me/revocations",
  summary:
    "List what was removed from the account when its address was verified or restored, newest first",
  tag,
  auth: "registered",
  source: "S44, USR-14",
  responses: { 200: RevocationList },
  errors: [],
  handler: async ({ caller, deps }) => {
    const rows = await listRevocations(deps.em, caller.playerId, maxListed);
    return reply(200, {
      revocations: rows.map(({ kind, label, reason, attachedAtMs, revokedAtMs }) => ({
        kind,
        // Masked, since the number may belong to somebody else.
        label: kind === "phone" ? maskedNumber(label ?? "") : label,
        reason,
        attached_at: attachedAtMs === null ? null : timestamp(attachedAtMs),
        revoked_at: timestamp(revokedAtMs),
      })),
    });
  },
});

const maskedNumber = (phone: string): string => `${phone.slice(0, 3)}…${phone.slice(-2)}`;

export const verificationRoutes: Route<VerificationDeps>[] = [resend, verify, revocations];
