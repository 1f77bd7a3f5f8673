import { after, before } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { uniqueName } from "../../../support/identity.ts";
import { startTestProvider, type TestProvider } from "../../../support/oidc-provider.ts";
import { callbackOf } from "./visitor.ts";

export let provider: TestProvider;

/** A provider that reports when users signed in. */
export let reportingProvider: TestProvider;

export let app: App;
export const now = Date.now();
export const newAddress = () => `${uniqueName()}@example.com`;

export const connectionsOf = async (token: string) =>
  (
    (await app.client.get("/v1/users/@me/connections", { token })).body as {
      connections: { provider: string; name: string | null; avatar_url: string | null }[];
    }
  ).connections;

/** The service with two providers of logins. */
export function startsSocialApp(): void {
  before(async () => {
    provider = await startTestProvider([callbackOf("acme")]);
    reportingProvider = await startTestProvider([callbackOf("told")], "client_secret_post", true);
    app = await startApp({
      clock: { now: () => now },
      env: {
        OAUTH_ACME_CLIENT_ID: provider.clientId,
        OAUTH_ACME_SECRET: provider.clientSecret,
        OAUTH_ACME_ISSUER: provider.issuer,
        OAUTH_ACME_LABEL: "Acme Games",
        OAUTH_TOLD_CLIENT_ID: reportingProvider.clientId,
        OAUTH_TOLD_SECRET: reportingProvider.clientSecret,
        OAUTH_TOLD_ISSUER: reportingProvider.issuer,
      },
    });
  });
  after(async () => {
    await app.stop();
    await reportingProvider.stop();
    await provider.stop();
  });
}
