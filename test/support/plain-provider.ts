import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface PlainProvider {
  url: string;
  /** Next response of the userinfo address. */
  user: { status: number; body: unknown };
  /** `iss` of its callbacks (RFC 9207); null sends none. */
  iss: string | null;
  /** Raw responses of these addresses, instead of JSON. */
  texts: { token?: string; user?: string };
  stop(): Promise<void>;
}

/** The tokens it issues. */
export const plainSecrets = { code: "code-of-the-provider", token: "token-of-the-provider" };

/** A minimal OAuth 2 provider without OpenID: any code is valid, and the test chooses the user. */
export async function startPlainProvider(): Promise<PlainProvider> {
  const provider: PlainProvider = {
    url: "",
    user: { status: 200, body: {} },
    iss: null,
    texts: {},
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  const server = createServer((request, answer) => {
    request.resume();
    const url = new URL(request.url ?? "/", "http://x");
    const json = (status: number, body: unknown) =>
      answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const asText = { "/token": provider.texts.token, "/user": provider.texts.user }[url.pathname];
    if (asText !== undefined)
      return answer.writeHead(200, { "content-type": "application/json" }).end(asText);
    if (url.pathname === "/token")
      return json(200, { access_token: plainSecrets.token, token_type: "bearer" });
    if (url.pathname === "/user") return json(provider.user.status, provider.user.body);
    const back = new URL(url.searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("code", plainSecrets.code);
    back.searchParams.set("state", url.searchParams.get("state") ?? "");
    if (provider.iss !== null) back.searchParams.set("iss", provider.iss);
    return answer.writeHead(302, { location: back.href }).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}
