import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedProvider {
  /** Address of its socket, without a final slash. */
  url: string;
  /** As its document spells it. */
  issuer: string;
  /** `iss` of its callbacks and id tokens, if other than the issuer; null sends none in the callback. */
  iss: { callback?: string | null; token?: string };
  /** Claims of the next id token besides the protocol's own. */
  claims: Record<string, unknown>;
  /** The parameters of the last authorization request. */
  asked: URLSearchParams;
  /** Paths that were requested. */
  paths: string[];
  stop(): Promise<void>;
}

export const scriptedClient = "client-of-the-scripted-provider";
export const scriptedCode = "code-of-the-scripted-provider";

/** An OpenID provider that says about itself whatever the test wants, at `/tenant` of its own socket. */
export async function startScriptedProvider(finalSlash: "" | "/" = ""): Promise<ScriptedProvider> {
  const server = createServer((request, answer) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    provider.paths.push(pathname);
    const json = (body: unknown) =>
      answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (pathname === "/tenant/.well-known/openid-configuration") return json(documentOf(provider));
    if (pathname === "/token") return json(tokensOf(provider));
    if (pathname !== "/authorize") return answer.writeHead(404).end();
    provider.asked = searchParams;
    const back = callbackOf(provider);
    if (searchParams.get("response_mode") === "form_post")
      return answer.writeHead(200, { "content-type": "text/html" }).end(postingPage(back));
    return answer.writeHead(302, { location: back.href }).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: ScriptedProvider = {
    url,
    issuer: `${url}/tenant${finalSlash}`,
    iss: {},
    claims: { sub: "someone" },
    asked: new URLSearchParams(),
    paths: [],
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return provider;
}

const documentOf = ({ url, issuer }: ScriptedProvider) => ({
  issuer,
  authorization_endpoint: `${url}/authorize`,
  token_endpoint: `${url}/token`,
  jwks_uri: `${url}/jwks`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["ES256"],
});

function callbackOf({ asked, issuer, iss }: ScriptedProvider): URL {
  const back = new URL(asked.get("redirect_uri") ?? "");
  back.searchParams.set("code", scriptedCode);
  back.searchParams.set("state", asked.get("state") ?? "");
  const named = iss.callback === undefined ? issuer : iss.callback;
  if (named !== null) back.searchParams.set("iss", named);
  return back;
}

/** A page that posts the parameters of the callback by itself (OAuth 2.0 Form Post Response Mode). */
function postingPage(back: URL): string {
  const fields = [...back.searchParams, ["user", '{"name":{"firstName":"Ada"}}'] as const];
  const inputs = fields.map(
    ([name, value]) =>
      `<input name="${name}" value="${value.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}">`,
  );
  const action = back.origin + back.pathname;
  return `<form method="post" action="${action}">${inputs.join("")}</form><script>document.forms[0].submit()</script>`;
}

/** The service trusts the connection, so no key signs the token (OpenID Connect Core, 3.1.3.7). */
function tokensOf({ asked, issuer, iss, claims }: ScriptedProvider) {
  const seconds = Math.floor(Date.now() / 1_000);
  const own = { iss: iss.token ?? issuer, aud: scriptedClient, iat: seconds, exp: seconds + 60 };
  const parts = [{ alg: "ES256" }, { ...own, nonce: asked.get("nonce"), ...claims }];
  const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const idToken = [...encoded, Buffer.alloc(64).toString("base64url")].join(".");
  return { access_token: "token", token_type: "bearer", id_token: idToken };
}
