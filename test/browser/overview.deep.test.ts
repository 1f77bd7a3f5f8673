import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { overviewRoutes, type OverviewDeps } from "../../server/operator/overview/routes.ts";
import { sessionRoutes } from "../../server/operator/session/routes.ts";
import { startOperatorPart } from "../support/operator.ts";
import { plainHost, sharedBrowser } from "../support/browser.ts";

const everyMs = 10_000;
const rightToken = "the-right-operator-token-0123456789";
const ada = { name: "Ada", role: "viewer" } as const;

describe("the operator's start page in a real browser", () => {
  let browser: Browser | null;
  let part: Awaited<ReturnType<typeof startOperatorPart>>;
  let url = "";
  let isKnown = true;
  let isAway = false;
  let failed = 0;
  const identities = {
    fromToken: async (token: string) => (token === rightToken ? ada : null),
    fromCookie: async () => (isKnown ? ada : null),
    cookieFor: () => "",
    end: async () => undefined,
  };
  const queues = async () => [{ name: "mail", is_paused: false, counts: { failed } }];
  const processes = async () => {
    if (isAway) throw new Error("the primary is away");
    return [];
  };
  before(async () => {
    browser = await sharedBrowser();
    part = await startOperatorPart<OverviewDeps>({
      routes: [...overviewRoutes, ...sessionRoutes],
      deps: {
        processes,
        jobs: { queues } as unknown as OverviewDeps["jobs"],
        stats: async () => [],
      },
      identities,
    });
    url = `${part.url}/operator`;
  });
  after(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    await part.stop();
  });

  const open = async (): Promise<Page> => {
    assert.ok(browser);
    [isKnown, isAway, failed] = [true, false, 0];
    const context = await browser.newContext();
    await context.addCookies([{ name: "operator", value: "any", url }]);
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(url);
    return page;
  };
  const failedCell = (page: Page) => page.locator("tr", { hasText: "mail" }).locator("td").nth(4);
  const shows = (page: Page, text: string) => page.getByText(text).first().waitFor();

  it("shows what has changed, and keeps the focus in place", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open();
    await page.getByRole("link", { name: "mail" }).focus();
    failed = 41;
    await page.clock.runFor(everyMs);
    await shows(page, "41");
    assert.equal(await failedCell(page).textContent(), "41");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "mail");
  });

  it("keeps its content while there is no answer, says so, and continues afterwards", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open();
    isAway = true;
    await page.clock.runFor(everyMs);
    await shows(page, "No response");
    assert.equal(await failedCell(page).textContent(), "0");
    [isAway, failed] = [false, 42];
    await page.clock.runFor(everyMs);
    await shows(page, "42");
    assert.equal(await page.getByRole("status").textContent(), "");
  });

  it("accepts the token over plain http too, where browsers send at most the origin of a form", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    isKnown = true;
    const context = await browser.newContext();
    const page = await context.newPage();
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.goto(`${url.replace("127.0.0.1", plainHost)}/login`);
    await page.getByLabel("Token").fill(rightToken);
    await page.getByRole("button", { name: "Log in" }).click();
    assert.equal((await (await sent).allHeaders())["sec-fetch-site"], undefined);
    await page.waitForURL(/\/operator$/);
    await shows(page, "Ada");
  });

  it("asks for the token again when the session has ended", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open();
    isKnown = false;
    await page.clock.runFor(everyMs);
    await page.getByLabel("Token").waitFor();
    assert.match(page.url(), /\/operator\/login$/);
  });
});
