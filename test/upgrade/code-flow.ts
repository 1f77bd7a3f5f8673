import { createHash } from "node:crypto";
import { basic, bearer, call } from "./api.ts";

export interface Client {
  id: string;
  secret: string;
}

export const redirect = "https://program.example/back";
const verifier = "a-verifier-of-a-recorded-program-that-nobody-has-to-guess";

/** A browser's way through a client's code flow, up to the client's tokens. */
export async function authorize(
  url: string,
  client: Client,
  access: string,
): Promise<{ access: string; refresh: string }> {
  const cookies = new Map<string, string>();
  async function go(request: string, body?: unknown, headers = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const status = body === undefined ? 303 : undefined;
    const answer = await call(url, request, {
      body,
      headers: { cookie, ...headers },
      ...(status === undefined ? {} : { status }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return answer;
  }
  const within = (address: string) => {
    const { pathname, search } = new URL(address, url);
    return pathname + search;
  };
  const query = new URLSearchParams({
    client_id: client.id,
    response_type: "code",
    redirect_uri: redirect,
    scope: "openid profile email offline_access",
    state: "abc",
    prompt: "consent",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const asked = await go(`GET /v1/oauth/authorize?${query}`);
  const page = within(asked.headers.get("location") ?? "");
  const decided = await go(`POST ${page}`, { is_allowed: true }, bearer(access));
  const back = await go(`GET ${within(String(decided.body["redirect"]))}`);
  const code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
  return exchange(url, client, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirect,
    code_verifier: verifier,
  });
}

export async function exchange(url: string, client: Client, grant: Record<string, string>) {
  const headers = basic(client.id, client.secret);
  const body = new URLSearchParams(grant);
  const answer = await call(url, "POST /v1/oauth/token", { body, headers });
  return {
    access: String(answer.body["access_token"]),
    refresh: String(answer.body["refresh_token"]),
  };
}
