import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";

export interface Profile {
  email?: string;
  email_verified?: boolean;
  name?: string;
  picture?: string;
  groups?: string[];
  /** Claims of the ID token besides the subject. */
  token?: Omit<Profile, "token">;
}

export interface TestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Users by subject. */
  people: Map<string, Profile>;
  /** The user who signs in next; null refuses. */
  signsIn: string | null;
  /** When they presented credentials, seconds since the epoch; null = now. */
  signedInAt: number | null;
  stop(): Promise<void>;
}

const clientId = "emberline-test";
const clientSecret = "a-secret-of-the-test-provider";

/** A real OpenID provider on this machine, whose users sign in without a form. */
export async function startTestProvider(
  redirectUris: string[],
  authMethod: "client_secret_basic" | "client_secret_post" = "client_secret_post",
  tellsSignIn = false,
): Promise<TestProvider> {
  let handle = (_: IncomingMessage, answer: ServerResponse): void => void answer.end();
  const server = createServer((request, answer) => handle(request, answer));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const test: TestProvider = {
    issuer,
    clientId,
    clientSecret,
    people: new Map(),
    signsIn: null,
    signedInAt: null,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  const provider = new Provider(
    issuer,
    configurationOf(test, redirectUris, { authMethod, tellsSignIn }),
  );
  const own = provider.callback();
  handle = (request, answer) => {
    if (!request.url?.startsWith("/interaction/")) return void own(request, answer);
    const denied = { error: "access_denied", error_description: "not today" };
    const ts = test.signedInAt ?? Math.floor(Date.now() / 1_000);
    const result = test.signsIn === null ? denied : { login: { accountId: test.signsIn, ts } };
    void provider.interactionFinished(request, answer, result);
  };
  return test;
}

function configurationOf(
  test: TestProvider,
  redirectUris: string[],
  {
    authMethod,
    tellsSignIn,
  }: { authMethod: "client_secret_basic" | "client_secret_post"; tellsSignIn: boolean },
): Configuration {
  return {
    clientAuthMethods: [authMethod],
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: authMethod,
        require_auth_time: tellsSignIn,
      },
    ],
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ["a-key-of-the-test-provider"] },
    claims: { email: ["email", "email_verified"], profile: ["name", "picture", "groups"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: (use) => {
        const { token, ...person } = test.people.get(sub) ?? {};
        return { sub, ...(use === "id_token" ? token : person) };
      },
    }),
    // No consent page.
    loadExistingGrant: async (context) => {
      const { client, session, provider } = context.oidc;
      const grant = new provider.Grant({
        clientId: client?.clientId,
        accountId: session?.accountId,
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  };
}

/** A browser at the provider: follows redirects from the sign-in page to the callback address. */
export async function visitProvider(start: string, callback: string): Promise<URL> {
  const jar = new Map<string, string>();
  let next = start;
  for (let hop = 0; hop < 10; hop++) {
    if (next.startsWith(callback)) return new URL(next);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(next, { redirect: "manual", headers: { cookie } });
    await answer.arrayBuffer();
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`${next} answered ${answer.status} without a redirect`);
    next = new URL(location, next).href;
  }
  throw new Error(`${start} redirects too often`);
}
