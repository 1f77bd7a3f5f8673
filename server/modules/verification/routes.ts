import Type from "typebox";
import { AppError } from "../../core/errors.ts";
import { defineRoute, reply, type AnyRoute } from "../../http/route.ts";
import { confirmEmail, resendVerification } from "./service.ts";

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
  summary: "Use a verification token",
  tag,
  auth: "public",
  source: "USR-06",
  rateLimit: { max: 10, window: 60 },
  heldSecret: ({ body, deps }) => deps.tokens.verify("email_verify", body.token)?.jti ?? null,
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

export const verificationRoutes: AnyRoute[] = [resend, verify];
