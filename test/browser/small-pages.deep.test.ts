import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { sendMessage } from "../../server/features/delivery/domain/send.ts";
import { startApp, type App } from "../support/app.ts";
import { sharedBrowser } from "../support/browser.ts";
import { sentMessage } from "../support/messages.ts";
import { openReader } from "../support/reader-page.ts";

describe("the small pages in a real browser", () => {
  let browser: Browser | null = null;
  let app: App;
  before(async () => {
    browser = await sharedBrowser();
    if (browser) app = await startApp({ env: { APP_ENV: "development" } });
  });
  after(async () => {
    if (browser) await app.stop();
  });

  /** One window; any unexpected error inside it fails the test. */
  async function read(
    t: TestContext,
    path: string,
    inspect: (page: Page) => Promise<RegExp | void>,
  ) {
    if (!browser) return t.skip("no browser on this machine");
    const { page, problems, close } = await openReader(browser, app.url, path);
    try {
      const expected = await inspect(page);
      assert.deepEqual(
        problems.filter((one) => !expected?.test(one)),
        [],
      );
    } finally {
      await close();
    }
  }

  it("show the state of the service at the start, and again when it recovers", async (t) => {
    await read(t, "/", async (page) => {
      const light = (name: string, state: string) =>
        page.locator(`#lights .${state}`).filter({ hasText: name }).waitFor();
      for (const name of ["Service", "Postgres", "Redis", "Live events"]) await light(name, "good");
      await page.getByText("connected; 0 public lobbies open").waitFor();
      assert.match(await page.locator("#version").innerText(), /^\d+\.\d+\.\d+/);
      const health = "**/v1/health-check";
      await page.route(health, (route) => route.abort());
      await light("Service", "bad");
      await light("Redis", "unknown");
      await page.unroute(health);
      await light("Service", "good");
      return /ERR_FAILED/;
    });
  });

  it("list sent messages with their code and preview, including those sent meanwhile", async (t) => {
    await read(t, "/inbox", async (page) => {
      await page.getByText("Nothing was sent yet.").waitFor();
      const send = (to: string) =>
        sendMessage(app.deps, {
          template: "sign-in-code",
          locale: "en",
          params: { code: "123456" },
          to,
        });
      await send("ada@example.com");
      await sentMessage(app.deps, "ada@example.com", "sign-in-code");
      await page.getByText("mail to ada@example.com").waitFor();
      await page.locator(".code", { hasText: "123456" }).waitFor();
      await page.getByText("As HTML").click();
      await page.frameLocator("iframe").getByText("123456").waitFor();
      await send("bob@example.com");
      await page.getByText("mail to bob@example.com").waitFor();
      const facts = await page.locator("#messages .facts").allInnerTexts();
      assert.deepEqual(
        facts.map((text) => /to (\w+)@/.exec(text)?.[1]),
        ["bob", "ada"],
      );
      assert.equal(await page.locator("iframe").count(), 1, "an open preview stays");
    });
  });

  it("list the parts of the interface", async (t) => {
    await read(t, "/docs", (page) => page.locator(".opblock-tag", { hasText: "System" }).waitFor());
  });
});
