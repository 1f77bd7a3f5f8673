import { LRUCache } from "lru-cache";
import * as oidc from "openid-client";
import {
  maxProviders,
  type OauthEndpoints,
  type OauthProvider,
} from "../../platform/config/oauth-providers.ts";
import { unavailable } from "../../http/pipeline/failures.ts";

type PlainEndpoints = Extract<OauthEndpoints, { kind: "plain" }>;

/** Timeout of a provider (S24). */
const timeoutSeconds = 5;
const maxResponseBytes = 256 * 1024;
/** Lifetime of discovered addresses. */
const discoveryMs = 3_600_000;

/** Discovery results by provider settings; failures are not cached. */
const known = new LRUCache<OauthProvider, oidc.Configuration>({
  max: maxProviders,
  ttl: discoveryMs,
  fetchMethod: configure,
});

/** The library's configuration of a provider; discovered once an hour. */
export async function configurationOf(provider: OauthProvider): Promise<oidc.Configuration> {
  try {
    return await known.forceFetch(provider);
  } catch (error) {
    throw unavailable(error);
  }
}

function configure(provider: OauthProvider): Promise<oidc.Configuration> {
  const { endpoints } = provider;
  return endpoints.kind === "discovered"
    ? discover(provider, endpoints.issuer)
    : Promise.resolve(plainConfiguration(provider, endpoints));
}

/**
 * The document of an issuer that is spelled with or without a final slash. From then on the document's own spelling
 * counts, which tokens and callbacks must have exactly.
 */
async function discover(provider: OauthProvider, issuer: string): Promise<oidc.Configuration> {
  const read = (spelling: string) =>
    oidc.discovery(new URL(spelling), provider.clientId, {}, clientAuthOf(provider), {
      timeout: timeoutSeconds,
      [oidc.customFetch]: boundedFetch,
      execute: issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [],
    });
  try {
    return await read(issuer);
  } catch (error) {
    if (!(error instanceof oidc.ClientError) || error.code !== otherIssuer) throw error;
    return read(issuer.endsWith("/") ? issuer.replace(/\/+$/, "") : `${issuer}/`);
  }
}

/** The library's code for a document of another issuer. */
const otherIssuer = "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";

function plainConfiguration(
  provider: OauthProvider,
  { issuer, authorize, token, userinfo }: PlainEndpoints,
): oidc.Configuration {
  const server: oidc.ServerMetadata = {
    // The library needs one; an `iss` is compared with it only if it was configured (service.ts).
    issuer: issuer ?? new URL(authorize).origin,
    authorization_endpoint: authorize,
    token_endpoint: token,
    userinfo_endpoint: userinfo,
  };
  const auth = clientAuthOf(provider);
  const configuration = new oidc.Configuration(server, provider.clientId, {}, auth);
  configuration.timeout = timeoutSeconds;
  configuration[oidc.customFetch] = boundedFetch;
  if (token.startsWith("http:")) oidc.allowInsecureRequests(configuration);
  return configuration;
}

const clientAuthOf = ({ clientSecret }: OauthProvider): oidc.ClientAuth =>
  clientSecret === "" ? oidc.None() : secretAuth(clientSecret);

/** Credentials in the form, which nearly all accept, unless the provider accepts the header only. */
function secretAuth(secret: string): oidc.ClientAuth {
  const [inForm, inHeader] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_post"];
    const auth = methods.includes("client_secret_post") ? inForm : inHeader;
    auth(server, ...request);
  };
}

/** Follows no redirect and limits the bytes of a response. */
async function boundedFetch(url: string, options: oidc.CustomFetchOptions): Promise<Response> {
  const { body, headers, method, signal } = options;
  const answer = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> }),
    ...(signal ? { signal } : {}),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > maxResponseBytes) throw new Error("the provider's answer is too long");
    chunks.push(bytes);
  }
  const { status, headers: answered } = answer;
  const isBodiless = status === 204 || status === 304 || status < 200;
  return new Response(isBodiless ? null : Buffer.concat(chunks), { status, headers: answered });
}
