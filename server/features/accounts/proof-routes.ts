import Type from "typebox";
import { AppError } from "../../platform/errors.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { proofSeconds } from "../sessions/recent-sign-in.ts";
import { proveByCode, proveByPassword } from "./proof.ts";
import type { AccountDeps } from "./deps.ts";

const defineRoute = routesWith<AccountDeps>();

const prove = defineRoute({
  method: "POST",
  path: "/v1/users/@me/proof",
  summary:
    "Prove with the password, or with a code of /v1/gateway/code/request, that it is you: for ten minutes this session may change how the account is signed in to",
  tag: "Users",
  auth: "registered",
  source: "USR-12",
  rateLimit: { max: 10, window: 60, per: "account" },
  body: Type.Object({
    password: Type.Optional(Type.String({ minLength: 1 })),
    code: Type.Optional(
      Type.String({ minLength: 1, description: "instead of the password, not beside it" }),
    ),
  }),
  invalid: { status: 400, code: "request:missing_field" },
  responses: { 200: Type.Object({ expires_in: Type.Integer() }) },
  errors: [
    "request:missing_field",
    "validation:failed",
    "user:password_incorrect",
    "auth:code_invalid",
    "auth:token_invalid",
    "auth:locked",
    "user:not_found",
    "server:unavailable",
  ],
  handler: async ({ body, caller, deps }) => {
    const { password, code } = body;
    if (password !== undefined && code !== undefined) throw new AppError("validation:failed", both);
    if (password !== undefined) await proveByPassword(deps, caller, password);
    else if (code !== undefined) await proveByCode(deps, caller, code);
    else throw new AppError("request:missing_field");
    return reply(200, { expires_in: proofSeconds });
  },
});

const both = { violations: [{ propertyPath: "code", title: "must not be beside a password" }] };

export const proofRoutes: Route<AccountDeps>[] = [prove];
