import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startApp } from "../support/app.ts";
import { sharedBrowser } from "../support/browser.ts";
import { post, registerAccount } from "../support/identity.ts";
import { sentMessage } from "../support/messages.ts";

describe("the page for a new password in a real browser", () => {
  it("sets the password once with the link of the mail, and hides the token", async (t) => {
    const browser = await sharedBrowser();
    if (!browser) return t.skip("no browser on this machine");
    const app = await startApp();
    try {
      const { email } = await registerAccount(app);
      await post(app, "/v1/gateway/reset-password/request", { email });
      const mail = await sentMessage(app.deps, email, "reset-password");
      const link = new URL(mail.content.links[0] ?? "");
      const page = await browser.newPage({ locale: "de-DE" });
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      const open = () => page.goto(`${app.url}${link.pathname}${link.search}`);
      const send = async (password: string) => {
        await page.getByLabel("Neues Passwort").fill(password);
        await page.getByRole("button", { name: "Passwort setzen" }).click();
      };
      await open();
      await page.waitForURL(`${app.url}/reset-password`);
      await send("x".repeat(129));
      await page.getByText("Dieses Passwort geht nicht").waitFor();
      await send("a brand new one");
      await page.getByText("Dein Passwort ist gesetzt").waitFor();
      const login = { identifier: email, password: "a brand new one" };
      assert.equal((await post(app, "/v1/gateway/login", login)).status, 200);
      await open();
      await send("yet another one");
      await page.getByText("schon benutzt").waitFor();
      assert.deepEqual(problems, []);
    } finally {
      for (const context of browser.contexts()) await context.close();
      await app.stop();
    }
  });
});
