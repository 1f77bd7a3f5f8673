import Type from "typebox";
import { AppError } from "../../platform/errors.ts";
import { pastedToken } from "../../platform/text/pasted.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { requestCredential, signInWithCode } from "./codes.ts";
import { sessionReply } from "./replies.ts";
import { resetPassword } from "./resets.ts";
import { NewPassword, SessionBody } from "./schemas.ts";
import { heldSession, clientInfoOf } from "./sessions.ts";
import type { SessionDeps } from "./deps.ts";

const defineRoute = routesWith<SessionDeps>();
const tag = "Gateway";
const missing = { status: 400, code: "request:missing_field" } as const;
/** An invalid address or code gets the response of an unknown one (S1). */
const Filled = Type.String({ pattern: "\\S", description: "more than spaces" });
const isChannel = (value: unknown): value is "email" | "sms" =>
  value === "email" || value === "sms";

const codeRequest = defineRoute({
  method: "POST",
  path: "/v1/gateway/code/request",
  summary: "Send a sign-in code to an account",
  tag,
  auth: "public",
  source: "document 1, Gateway; GW-04",
  rateLimit: { max: 5, window: 60 },
  body: Type.Object({
    email: Filled,
    channel: Type.Optional(
      Type.Unsafe<unknown>({ description: "email (default), or sms to a verified number" }),
    ),
  }),
  invalid: missing,
  responses: { 200: null },
  errors: ["request:missing_field", "validation:failed"],
  handler: async ({ body, deps, request }) => {
    const channel = body.channel ?? "email";
    if (!isChannel(channel)) throw new AppError("validation:failed", channelProblem);
    const { realm } = await clientInfoOf(deps, request);
    await requestCredential(deps, { purpose: "code", email: body.email, channel, realm });
    return reply(200);
  },
});

const codeVerify = defineRoute({
  method: "POST",
  path: "/v1/gateway/code/verify",
  summary: "Sign in with a code",
  tag,
  auth: "public",
  source: "document 1, Gateway; GW-04, GW-05",
  setsCookie: "by-page",
  rateLimit: { max: 10, window: 60 },
  body: Type.Object({ email: Filled, code: Filled }),
  invalid: missing,
  responses: { 200: SessionBody },
  errors: ["request:missing_field", "auth:code_invalid"],
  handler: async ({ body, deps, request }) =>
    sessionReply(
      200,
      await signInWithCode(
        deps,
        body,
        await clientInfoOf(deps, request),
        heldSession(deps, request),
      ),
    ),
});

const resetRequest = defineRoute({
  method: "POST",
  path: "/v1/gateway/reset-password/request",
  summary: "Send a password reset link to an account",
  tag,
  auth: "public",
  source: "document 1, Gateway; GW-10",
  rateLimit: { max: 5, window: 60 },
  body: Type.Object({ email: Filled }),
  invalid: missing,
  responses: { 200: null },
  errors: ["request:missing_field"],
  handler: async ({ body, deps, request }) => {
    const { realm } = await clientInfoOf(deps, request);
    const input = { purpose: "reset", email: body.email, channel: "email", realm } as const;
    await requestCredential(deps, input);
    return reply(200);
  },
});

const reset = defineRoute({
  method: "POST",
  path: "/v1/gateway/reset-password",
  summary: "Set a new password with the token of the link",
  tag,
  auth: "public",
  source: "document 1, Gateway; TOK-03, TOK-08",
  rateLimit: { max: 5, window: 60 },
  heldSecret: ({ body, deps }) =>
    deps.tokens.verify("password_reset", pastedToken(body.token))?.jti ?? null,
  body: Type.Object({ token: Type.String({ minLength: 1 }), password: NewPassword }),
  responses: { 200: null },
  errors: ["auth:token_invalid", "server:unavailable"],
  handler: async ({ body, deps, request }) => {
    await resetPassword(deps, body, heldSession(deps, request));
    return reply(200);
  },
});

const channelProblem = {
  violations: [{ propertyPath: "channel", title: "must be email or sms" }],
};

export const credentialRoutes: Route<SessionDeps>[] = [
  codeRequest,
  codeVerify,
  resetRequest,
  reset,
];
