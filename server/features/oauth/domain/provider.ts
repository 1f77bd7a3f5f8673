import Library, { type AdapterPayload } from "oidc-provider";
import {
  findOAuthClient,
  type KnownOAuthClient,
} from "../../../../db/queries/oauth/oauth-clients.ts";
import { takeSignInNumber } from "../../../../db/queries/sessions/token-families.ts";
import { addressOf } from "../../../platform/text/account-names.ts";
import { publicBaseUrl } from "../../../platform/net/addresses.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import { oauthConfiguration } from "./configuration.ts";
import { endGrantSession, findGrantAccount, type GrantStores } from "./grants.ts";
import { createStore } from "./store.ts";

export interface OAuthOptions extends GrantStores {
  config: Config;
  log: Logger;
}

/** The code is returned in the query: a self-posting form would need an inline script. */
const responseModes = ["query"];

/** The protocol library, set up for our clients, players and stores. */
export function createProvider(options: OAuthOptions): Library {
  const { config, log } = options;
  const store = createStore({
    redis: options.redis,
    clock: options.clock,
    findClient: (clientId) => findClient(options, clientId),
    endGrant: (grantId) => endGrantSession(options, grantId),
  });
  const provider = new Library(
    publicBaseUrl(config),
    oauthConfiguration(config, {
      store,
      takeSignInNumber: () => takeSignInNumber(options.fork()),
      findAccount: async (_, subject, token) => {
        const grantId = token && "grantId" in token ? token.grantId : undefined;
        const isRefresh = token?.kind === "RefreshToken";
        const player = await findGrantAccount(options, subject, { grantId, isRefresh });
        if (player === null) return undefined;
        const claims = {
          sub: subject,
          name: player.displayName ?? player.name,
          preferred_username: player.username ?? player.name,
          email: addressOf(player) ?? undefined,
          email_verified: player.emailVerifiedAt !== null && player.emailVerifiedAt !== undefined,
        };
        return { accountId: subject, claims: () => claims };
      },
    }),
  );
  provider.use(async (context, next) => {
    await next();
    if (context.oidc?.route === "discovery")
      Object.assign(context.body as object, { response_modes_supported: responseModes });
  });
  // Only the bridge sets the forwarded address.
  provider.proxy = true;
  provider.on("server_error", (_, error) =>
    log.error({ event: "oauth_request_failed", err: error }, "oauth request failed"),
  );
  return provider;
}

const clientForm = /^[\w-]{1,32}$/;

async function findClient(
  { fork }: OAuthOptions,
  clientId: string,
): Promise<AdapterPayload | undefined> {
  const client = clientForm.test(clientId) ? await findOAuthClient(fork(), clientId) : null;
  if (client === null) return undefined;
  return {
    client_id: client.clientId,
    client_name: client.name,
    redirect_uris: client.redirectUris,
    application_type: isOnDevice(client) ? "native" : "web",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: client.secretHash === null ? "none" : "client_secret_basic",
    // The bridge hashes the secret of a request before the library compares the two.
    ...(client.secretHash === null ? {} : { client_secret: client.secretHash }),
  };
}

/** A public native program: the port of its loopback addresses is variable (RFC 8252, 7.3). */
function isOnDevice({ secretHash, redirectUris }: KnownOAuthClient): boolean {
  if (secretHash !== null) return false;
  const hasOwnScheme = redirectUris.some((uri) => !/^https?:/.test(uri));
  return hasOwnScheme || redirectUris.every((uri) => uri.startsWith("http:"));
}
