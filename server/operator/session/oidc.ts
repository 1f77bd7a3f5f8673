import { randomBytes } from "node:crypto";
import type { Config } from "../../platform/config/config.ts";
import { readOperatorOidc, type OperatorOidc } from "../../platform/config/operator-oidc.ts";
import { AppError } from "../../platform/errors.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { operatorUrl } from "../../platform/net/addresses.ts";
import type { Clock } from "../../platform/time/clock.ts";
import { nameOf, roleValueOf, type OidcPerson } from "./oidc-person.ts";
import { createSigner, isEqual } from "./signer.ts";

export const oidcPath = "/operator/login/oidc";
export const oidcCallbackPath = `${oidcPath}/callback`;

/** Time at the provider. */
export const signInSeconds = 600;

/** Sign-in of operators at an OpenID provider: authorization code with PKCE, state and nonce (OPS-83). */
export interface OidcSignIn {
  /** Of the provider. */
  label: string;
  /** Address of the provider, and what the browser keeps meanwhile. */
  begin(): Promise<{ url: string; kept: string }>;
  /** Who signed in. Rejects with a refusal of the error table. */
  finish(query: string, kept: string | undefined): Promise<OidcPerson>;
}

export interface OidcOptions {
  config: Config;
  clock: Clock;
  log: Logger;
}

/** What a browser keeps, signed, while its person is at the provider: no other browser can go on (S46). */
interface Pending {
  state: string;
  nonce: string;
  codeVerifier: string;
  endsAtMs: number;
}

/** Null without the settings. */
export function createOidcSignIn({ config, clock, log }: OidcOptions): OidcSignIn | null {
  const oidc = readOperatorOidc(config);
  if (oidc === null) return null;
  const { provider } = oidc;
  const signer = createSigner(config.APP_SECRET, "operator-oidc");
  const redirectUri = `${operatorUrl(config)}${oidcCallbackPath}`;
  const exchange = () => import("../../features/social/code-exchange.ts");
  const openPending = (kept: string): Pending | null => {
    const text = signer.open(kept);
    if (text === null) return null;
    const pending = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Pending;
    const left = pending.endsAtMs - clock.now();
    // A clock set back must not lengthen it (S40).
    return left > 0 && left <= signInSeconds * 1_000 ? pending : null;
  };
  return {
    label: provider.name,
    begin: async () => {
      const pending = {
        ...{ state: randomSecret(), nonce: randomSecret(), codeVerifier: randomSecret() },
        endsAtMs: clock.now() + signInSeconds * 1_000,
      };
      const { authorizationUrl } = await exchange();
      const url = await authorizationUrl(provider, { ...pending, redirectUri });
      const text = Buffer.from(JSON.stringify(pending)).toString("base64url");
      return { url, kept: signer.sign(text) };
    },
    finish: async (query, kept) => {
      const parameters = new URLSearchParams(query);
      const pending = kept === undefined ? null : openPending(kept);
      const state = parameters.get("state") ?? "";
      if (pending === null || !isEqual(state, pending.state))
        throw new AppError("oauth:state_invalid");
      const callback = new URL(redirectUri);
      for (const name of callbackFields) {
        const value = parameters.get(name);
        if (value !== null) callback.searchParams.set(name, value);
      }
      const { exchangeCode, readClaims } = await exchange();
      const claims = await exchangeCode(
        provider,
        { callback, state, pending },
        (configuration, tokens) => readClaims(configuration, tokens, neededOf(oidc)),
        (failure) =>
          log.warn({ event: "operator_sign_in_failed", ...failure }, "operator sign-in failed"),
      );
      return signedInBy(oidc, claims, log);
    },
  };
}

/** Fields that a provider returns; `error_description` is text of others. */
const callbackFields = ["code", "state", "iss", "error"] as const;

const randomSecret = () => randomBytes(32).toString("base64url");

const neededOf = ({ claim }: OperatorOidc) => [claim, "email"];

function signedInBy(oidc: OperatorOidc, claims: Readonly<Record<string, unknown>>, log: Logger) {
  const [name, value] = [nameOf(claims), roleValueOf(oidc, claims)];
  const { endpoints } = oidc.provider;
  if (name === null || value === null || endpoints.kind !== "discovered") {
    log.warn({ event: "operator_sign_in_refused" }, "nobody with a role signed in, refused");
    throw new AppError("operator:role_missing");
  }
  return { issuer: endpoints.issuer, name, value };
}
