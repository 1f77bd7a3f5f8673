import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { changePassword, setInitialPassword } from "./passwords.ts";
import { InitialPasswordBody, PasswordBody } from "./schemas.ts";
import type { AccountDeps } from "./deps.ts";

const defineRoute = routesWith<AccountDeps>();
const tag = "Users";

const change = defineRoute({
  method: "POST",
  path: "/v1/users/@me/password",
  summary: "Change the password and end all other sessions",
  tag,
  auth: "registered",
  source: "document 1, Users; USR-05, TOK-08",
  body: PasswordBody,
  invalid: { status: 400, code: "request:missing_field" },
  responses: { 200: null },
  errors: [
    "request:missing_field",
    "user:password_weak",
    "user:password_incorrect",
    "user:not_found",
    "auth:locked",
    "server:unavailable",
  ],
  handler: async ({ body, caller, deps }) => {
    const input = { current: body.current_password, wanted: body.new_password };
    await changePassword(deps, caller, input);
    return reply(200);
  },
});

const initial = defineRoute({
  method: "POST",
  path: "/v1/users/@me/password/initial",
  summary:
    "Set the first password of an account; needs a sign-in or a proof of the last ten minutes",
  tag,
  auth: "registered",
  source: "document 1, Users; TOK-08, USR-12",
  body: InitialPasswordBody,
  responses: { 200: null },
  errors: [
    "user:password_exists",
    "user:not_found",
    "auth:proof_required",
    "auth:token_invalid",
    "server:unavailable",
  ],
  handler: async ({ body, caller, deps }) => {
    await setInitialPassword(deps, caller, body.password);
    return reply(200);
  },
});

export const passwordRoutes: Route<AccountDeps>[] = [change, initial];
