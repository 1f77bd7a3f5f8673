import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { plainHost, sharedBrowser } from "../support/browser.ts";
import { provider, startsOidc, url } from "../server/operator/oidc-app.ts";

describe("the sign-in of operators at an OpenID provider in a real browser", () => {
  // To a browser the provider, at 127.0.0.1, is another site.
  startsOidc(plainHost);
  let browser: Browser | null;
  before(async () => {
    browser = await sharedBrowser();
    provider.people.set("ada", {
      ...{ email: "ada@example.com", email_verified: true, groups: ["team-games"] },
    });
  });

  it("leads from the button to the overview, though the session cookie is strict", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    provider.signsIn = "ada";
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/operator/login`);
    await page.getByRole("link", { name: "Sign in with" }).click();
    await page.getByText("ada@example.com").waitFor();
    assert.equal(page.url(), `${url}/operator`);
    const kept = (await context.cookies()).map(({ name, sameSite }) => `${name} ${sameSite}`);
    assert.deepEqual(
      kept.filter((text) => text.startsWith("operator")),
      ["operator Strict"],
    );
    await context.close();
  });

  it("says why nobody was signed in", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    provider.signsIn = null;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/operator/login`);
    await page.getByRole("link", { name: "Sign in with" }).click();
    await page.getByRole("alert").getByText("The provider refused the login.").waitFor();
    await context.close();
  });
});
