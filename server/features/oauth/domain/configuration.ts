import { errors, interactionPolicy, type Configuration, type FindAccount } from "oidc-provider";
import type { Config } from "../../../platform/config/config.ts";
import { errorPage } from "./error-page.ts";
import {
  grantSeconds,
  lifetimes,
  oauthPaths,
  sessionCookie,
  signInNumberDetail,
} from "./constants.ts";
import { cookieKeys, signingKeys } from "./keys.ts";
import type { createStore } from "./store.ts";

/** Only code flow with PKCE S256; the library implements the protocol (OA-06). */
export function oauthConfiguration(
  config: Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">,
  parts: {
    store: ReturnType<typeof createStore>;
    findAccount: FindAccount;
    takeSignInNumber: () => Promise<number>;
  },
): Configuration {
  const { consent, ...routes } = oauthPaths;
  const cookie = { httpOnly: true, sameSite: "lax", signed: true } as const;
  const off = { enabled: false };
  return {
    adapter: parts.store,
    findAccount: parts.findAccount,
    routes,
    ttl: { ...lifetimes, Grant: (_, grant) => grantSeconds(grant.getOIDCScope().split(" ")) },
    clients: [],
    jwks: { keys: signingKeys(config) },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    responseTypes: ["code"],
    scopes: ["openid", "offline_access", "profile", "email"],
    claims: {
      openid: ["sub"],
      profile: ["name", "preferred_username"],
      email: ["email", "email_verified"],
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    expiresWithSession: () => false,
    rotateRefreshToken: () => true,
    // Every authorization has its own grant: revoking one of its tokens ends its session.
    revokeGrantPolicy: () => true,
    // Our own pipeline handles CORS (HTTP-10).
    clientBasedCORS: () => false,
    cookies: {
      keys: cookieKeys(config),
      names: {
        session: sessionCookie,
        interaction: "svc_oauth_consent",
        resume: "svc_oauth_resume",
      },
      short: cookie,
      long: cookie,
    },
    interactions: {
      policy: alwaysAsk(parts.takeSignInNumber),
      url: (_, { uid }) => `${consent}/${uid}`,
    },
    features: {
      devInteractions: off,
      rpInitiatedLogout: off,
      resourceIndicators: off,
      pushedAuthorizationRequests: off,
      dPoP: off,
      revocation: {
        enabled: true,
        allowedPolicy: (_, client, token) => token.clientId === client.clientId,
      },
    },
    renderError: (context, out) => {
      context.type = "html";
      context.body = errorPage(out.error);
    },
  };
}

/**
 * Asks the player each time, since the library does not know our sessions. A request without a scope is refused first
 * (RFC 6749, 3.3): there would be nothing to allow.
 */
function alwaysAsk(takeSignInNumber: () => Promise<number>) {
  const { base, Check } = interactionPolicy;
  const policy = base();
  const named = new Check("scope", "a known scope is asked for", (context) => {
    if (context.oidc.requestParamOIDCScopes.size > 0) return Check.NO_NEED_TO_PROMPT;
    throw new errors.InvalidScope("no scope of this server is asked for", "openid");
  });
  const confirmed = new Check(
    "confirm",
    "every authorization is confirmed",
    (context) => (context.oidc.result?.login ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT),
    async () => ({ [signInNumberDetail]: await takeSignInNumber() }),
  );
  policy.get("login")?.checks.add(named);
  policy.get("login")?.checks.add(confirmed);
  return policy;
}
