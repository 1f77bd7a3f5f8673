import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startApp } from "../support/app.ts";
import { plainHost, sharedBrowser } from "../support/browser.ts";
import { freePort } from "../support/free-port.ts";
import { scriptedClient, startScriptedProvider } from "../support/scripted-provider.ts";

describe("a sign-in whose provider posts a form from its own site, in a real browser", () => {
  it("ends with a session here, and with a page after Back", async (t) => {
    const browser = await sharedBrowser();
    if (!browser) return t.skip("no browser on this machine");
    const provider = await startScriptedProvider();
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const app = await startApp({
      port,
      env: {
        PUBLIC_BASE_URL: base,
        OAUTH_APPLE_CLIENT_ID: scriptedClient,
        OAUTH_APPLE_ISSUER: provider.issuer,
        OAUTH_APPLE_RESPONSE_MODE: "form_post",
      },
    });
    const page = await browser.newPage({ locale: "en-GB" });
    try {
      await page.goto(`${base}/status/verify`);
      const started = await page.evaluate(async (goal) => {
        const query = new URLSearchParams({ redirect: goal });
        const answer = await fetch(`/v1/gateway/oauth/apple/url?${query.toString()}`);
        return ((await answer.json()) as { body: { url: string; state: string } }).body;
      }, `${base}/status/unsubscribe`);
      // Another site than ours, whose post carries no cookie of ours.
      await page.goto(started.url.replace("127.0.0.1", plainHost));
      await page.waitForURL(`${base}/status/unsubscribe`);
      const name = await page.evaluate(async () => {
        const answer = await fetch("/v1/gateway/refresh", { method: "POST" });
        const { body } = (await answer.json()) as { body: { player: { display_name: string } } };
        return body.player.display_name;
      });
      assert.equal(name, "Ada");
      const query = new URLSearchParams({ code: "x", state: started.state });
      await page.goto(`${base}/v1/gateway/oauth/apple/callback?${query.toString()}`);
      await page.getByText("This sign-in is no longer open").waitFor();
      await page.getByRole("link", { name: "Back to the start" }).click();
      await page.waitForURL(`${base}/`);
    } finally {
      await page.close();
      await app.stop();
      await provider.stop();
    }
  });
});
