import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import * as client from "openid-client";
import { RealmSchema } from "../../db/entities/realm.ts";
import { insertOAuthClient } from "../../db/queries/oauth/oauth-clients.ts";
import { startApp } from "../support/app.ts";
import { sharedBrowser } from "../support/browser.ts";
import { freePort } from "../support/free-port.ts";
import { password, registerAccount } from "../support/identity.ts";

describe("the page where a player signs in to a program, in a real browser", () => {
  it("signs in, shows which program requests what, and redirects back with a valid code", async (t) => {
    const browser = await sharedBrowser();
    if (!browser) return t.skip("no browser on this machine");
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const app = await startApp({ port, env: { PUBLIC_BASE_URL: issuer } });
    // The client: a redirect address that leaves the browser at the page, as an app does.
    const answers = createServer((_, answer) => answer.writeHead(204).end());
    const program = answers.listen(0, "127.0.0.1");
    await new Promise((done) => program.once("listening", done));
    const redirect = `http://127.0.0.1:${(program.address() as AddressInfo).port}/back`;
    try {
      const { em } = app.deps;
      const realm = await em.findOneOrFail(RealmSchema, { slug: "default" });
      const row = {
        clientId: "browser",
        realmId: realm.id,
        name: "A <b>program",
        secretHash: null,
      };
      await insertOAuthClient(em, { ...row, redirectUris: [redirect] });
      const { email, session } = await registerAccount(app);
      const config = await client.discovery(new URL(issuer), "browser", undefined, client.None(), {
        algorithm: "oauth2",
        execute: [client.allowInsecureRequests],
      });
      const verifier = client.randomPKCECodeVerifier();
      const start = client.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: "openid email",
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      const page = await browser.newPage({ locale: "en-GB" });
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      await page.goto(start.href);
      await page.getByText("A <b>program wants to know").waitFor();
      await page.getByText("your email address").waitFor();
      assert.equal(await page.getByText("your name and user name").isVisible(), false);
      await page.getByLabel("Email address or user name").fill(email);
      await page.getByLabel("Password").fill("not the password 1");
      const field = await page.getByLabel("Password").boundingBox();
      assert.ok((field?.height ?? 0) >= 44, "fingers reach the fields as they reach the buttons");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("That is not right").waitFor();
      await page.getByLabel("Password").fill(password);
      await page.keyboard.press("Enter");
      await page.getByText(`You are ${session.player.name}`).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.id), "ask");
      const decisions: string[] = [];
      page.on("request", (sent) => sent.method() === "POST" && decisions.push(sent.url()));
      const allow = page.getByRole("button", { name: "Allow", exact: true });
      const back = page.waitForRequest(`${redirect}?**`);
      await allow.dblclick();
      const address = new URL((await back).url());
      await allow.waitFor({ state: "hidden" });
      assert.equal(decisions.length, 1);
      const tokens = await client.authorizationCodeGrant(config, address, {
        pkceCodeVerifier: verifier,
      });
      assert.equal(tokens.claims()?.sub, String(session.player.id));
      assert.deepEqual(problems, []);
    } finally {
      for (const context of browser.contexts()) await context.close();
      program.close();
      await app.stop();
    }
  });
});
