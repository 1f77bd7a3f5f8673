import { hash } from "node:crypto";
import { randomString } from "../../../../server/platform/ids.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import type { App } from "../../../support/app.ts";
import { visitProvider, type Profile, type TestProvider } from "../../../support/oidc-provider.ts";

export const callbackOf = (provider: string) =>
  `http://127.0.0.1:8080/v1/gateway/oauth/${provider}/callback`;

export interface StartedLogin {
  url: string;
  state: string;
  /** The cookie that binds the state to this browser. */
  cookie: string;
}

/** Requests the address of a provider's page; a `token` links, a `verifier` belongs to a native client. */
export async function begin(
  app: App,
  options: { provider?: string; redirect?: string; token?: string; verifier?: string } = {},
): Promise<StartedLogin> {
  const { provider = "acme", redirect = "http://localhost:5173/in?x=1", token } = options;
  const { verifier } = options;
  const query = new URLSearchParams({ redirect, mode: token === undefined ? "login" : "link" });
  if (verifier !== undefined) query.set("code_challenge", hash("sha256", verifier, "base64url"));
  const path = `/v1/gateway/oauth/${provider}/url?${query.toString()}`;
  const answer = await app.client.get(path, token === undefined ? {} : { token });
  if (answer.status !== 200) throw new Error(answer.text);
  const { url, state } = answer.body as { url: string; state: string };
  return { url, state, cookie: cookieOf(answer.headers.getSetCookie(), "svc_oauth") };
}

const cookieOf = (lines: string[], name: string) =>
  lines.find((line) => line.startsWith(`${name}=`))?.split(";", 1)[0] ?? "";

export interface Returned {
  status: number;
  location: URL | null;
  error: string | null;
  /** Session id of the created session. */
  refreshToken: string | null;
  text: string;
}

/** Returns to our callback, as a browser with this cookie. */
export async function openCallback(app: App, back: URL, cookie: string): Promise<Returned> {
  const answer = await app.client.get(back.pathname + back.search, { headers: { cookie } });
  const location = answer.headers.get("location");
  const target = location === null ? null : new URL(location);
  const refresh = cookieOf(answer.headers.getSetCookie(), "svc_refresh").split("=")[1];
  return {
    status: answer.status,
    location: target,
    error: target?.searchParams.get("error") ?? null,
    refreshToken: refresh ?? null,
    text: answer.text,
  };
}

/** The whole flow through the provider and back. */
export async function signInWithProvider(
  app: App,
  options: { provider?: string; token?: string } = {},
): Promise<Returned> {
  const startedLogin = await begin(app, options);
  const back = await visitProvider(startedLogin.url, callbackOf(options.provider ?? "acme"));
  return openCallback(app, back, startedLogin.cookie);
}

/** Adds a user at the provider who signs in next; returns the subject. */
export function addProviderUser(provider: TestProvider, facts: Profile): string {
  const subject = `sub-${randomString(12, "abcdefghijklmnopqrstuvwxyz")}`;
  provider.people.set(subject, facts);
  provider.signsIn = subject;
  return subject;
}

export async function sessionOf(app: App, returned: Returned): Promise<SessionBody> {
  const body = { refresh_token: returned.refreshToken };
  const answer = await app.client.post("/v1/gateway/refresh", { body });
  if (answer.status !== 200) throw new Error(`${returned.text} ${answer.text}`);
  return answer.body as SessionBody;
}
