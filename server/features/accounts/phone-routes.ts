import { timestamp } from "../../platform/time/clock.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { clearPhone, requestPhoneCode, verifyPhoneCode } from "./phone.ts";
import { PhoneBody, PhoneCodeBody, VerifiedPhoneBody } from "./schemas.ts";
import type { AccountDeps } from "./deps.ts";

const defineRoute = routesWith<AccountDeps>();
const tag = "Users";

const request = defineRoute({
  method: "POST",
  path: "/v1/users/@me/phone",
  summary: "Send a code to a phone number; needs a sign-in or a proof of the last ten minutes",
  tag,
  auth: "registered",
  source: "document 1, Users; USR-08, USR-12",
  rateLimit: { max: 5, window: 300 },
  body: PhoneBody,
  invalid: { status: 400, code: "phone:invalid" },
  responses: { 200: null },
  errors: ["phone:invalid", "phone:too_many_codes", "user:not_found", "auth:proof_required"],
  handler: async ({ body, caller, deps }) => {
    await requestPhoneCode(deps, caller, body.phone);
    return reply(200);
  },
});

const verify = defineRoute({
  method: "POST",
  path: "/v1/users/@me/phone/verify",
  summary: "Verify the phone number with the code",
  tag,
  auth: "registered",
  source: "document 1, Users; USR-08",
  rateLimit: { max: 10, window: 60 },
  body: PhoneCodeBody,
  invalid: { status: 400, code: "request:missing_field" },
  responses: { 200: VerifiedPhoneBody },
  errors: ["request:missing_field", "phone:code_invalid", "server:unavailable"],
  handler: async ({ body, caller, deps }) => {
    const { phone, verifiedAt } = await verifyPhoneCode(deps, caller, body.code);
    return reply(200, { phone, phone_verified_at: timestamp(verifiedAt) });
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/v1/users/@me/phone",
  summary: "Remove the phone number",
  tag,
  auth: "registered",
  source: "document 1, Users",
  responses: { 200: null },
  errors: ["user:not_found"],
  handler: async ({ caller, deps }) => {
    await clearPhone(deps, caller);
    return reply(200);
  },
});

export const phoneRoutes: Route<AccountDeps>[] = [request, verify, remove];
