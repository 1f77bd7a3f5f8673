import { LRUCache } from "lru-cache";
import * as oidc from "openid-client";
import { maxProviders, type OauthProvider } from "../../platform/config/oauth-providers.ts";
import { unavailable } from "../../http/pipeline/failures.ts";

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

async function configure(provider: OauthProvider): Promise<oidc.Configuration> {
  const { clientId, clientSecret, endpoints } = provider;
  const auth = clientSecret === "" ? oidc.None() : secretAuth(clientSecret);
  if ("issuer" in endpoints)
    return oidc.discovery(new URL(endpoints.issuer), clientId, {}, auth, {
      timeout: timeoutSeconds,
      [oidc.customFetch]: boundedFetch,
      execute: endpoints.issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [],
    });
  const server: oidc.ServerMetadata = {
    issuer: new URL(endpoints.authorize).origin,
    authorization_endpoint: endpoints.authorize,
    token_endpoint: endpoints.token,
    userinfo_endpoint: endpoints.userinfo,
  };
  const configuration = new oidc.Configuration(server, clientId, {}, auth);
  configuration.timeout = timeoutSeconds;
  configuration[oidc.customFetch] = boundedFetch;
  if (endpoints.token.startsWith("http:")) oidc.allowInsecureRequests(configuration);
  return configuration;
}

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
