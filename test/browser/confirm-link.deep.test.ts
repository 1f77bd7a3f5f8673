import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startApp, type App } from "../support/app.ts";
import { sharedBrowser } from "../support/browser.ts";
import { freePort } from "../support/free-port.ts";
import { password, post, registerAccount } from "../support/identity.ts";
import { sentMessage } from "../support/messages.ts";

describe("the page behind a mail link in a real browser", () => {
  const linkTo = async (app: App, email: string) =>
    (await sentMessage(app.deps, email, "verify-email")).content.links[0] ?? "";

  it("confirms an address on yes, and leads to a new password on no", async (t) => {
    const browser = await sharedBrowser();
    if (!browser) return t.skip("no browser on this machine");
    const port = await freePort();
    const app = await startApp({ port, env: { PUBLIC_BASE_URL: `http://127.0.0.1:${port}` } });
    try {
      // Scripts are off: the pages need none.
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(message.text());
      });
      const mine = await registerAccount(app);
      await page.goto(await linkTo(app, mine.email));
      await page.getByText("Was that you?").waitFor();
      await page.getByRole("button", { name: "Yes" }).click();
      await page.getByText("Your address is confirmed").waitFor();
      const login = { identifier: mine.email, password };
      assert.equal((await post(app, "/v1/gateway/login", login)).status, 200);

      const theirs = await registerAccount(app);
      const link = await linkTo(app, theirs.email);
      await page.goto(link);
      await page.getByRole("button", { name: "No" }).click();
      await page.waitForURL(/\/reset-password\?token=/);
      const refused = { identifier: theirs.email, password };
      assert.equal((await post(app, "/v1/gateway/login", refused)).code, "auth:invalid");
      await page.goto(link);
      await page.getByText("was used already").waitFor();
      assert.deepEqual(problems, []);
    } finally {
      for (const context of browser.contexts()) await context.close();
      await app.stop();
    }
  });

  it("needs no further answer in the browser that registered", async (t) => {
    const browser = await sharedBrowser();
    if (!browser) return t.skip("no browser on this machine");
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const app = await startApp({ port, env: { PUBLIC_BASE_URL: url } });
    try {
      const page = await browser.newPage();
      await page.goto(`${url}/reset-password`);
      const email = "someone@example.com";
      const status = await page.evaluate(
        async (body) => {
          const made = await fetch("/v1/users", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body,
          });
          return made.status;
        },
        JSON.stringify({ email, username: "someone_here", password }),
      );
      assert.equal(status, 201);
      await page.goto(await linkTo(app, email));
      assert.equal(await page.getByText("Was that you?").count(), 0);
      await page.getByRole("button", { name: "Confirm address" }).click();
      await page.getByText("Your address is confirmed").waitFor();
    } finally {
      for (const context of browser.contexts()) await context.close();
      await app.stop();
    }
  });
});
