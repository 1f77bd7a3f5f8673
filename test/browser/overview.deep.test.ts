import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { overviewRoutes, type OverviewDeps } from "../../server/operator/overview/routes.ts";
import { sessionRoutes } from "../../server/operator/session/routes.ts";
import { startOperatorPart } from "../support/operator.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { sampleFailure } from "../server/operator/failures/sample-failure.ts";
import { plainHost, sharedBrowser } from "../support/browser.ts";

const everyMs = 10_000;
const rightToken = "the-right-operator-token-0123456789";
const ada = { name: "Ada", role: "viewer" } as const;

const jobPeriod = { numCompleted: 3, numFailed: 1, numRetried: 0, wait: null, run: null };

/** A service whose stores respond, an hour of jobs, and an event with a text of somebody else. */
const well = {
  stores: async () => ({ redis: "ok", postgres: "ok" }),
  moderators: async () => [],
  fleetProblems: async () => [],
  jobTimes: {
    lastHour: async () => {
      const total = { ...jobPeriod, startMs: Date.now() - 3_600_000 };
      const periods = Array.from({ length: 60 }, () => total);
      return [{ queue: "mail", stepMs: 60_000, periods, total }];
    },
  },
  processEvents: {
    since: async () => [
      {
        ...{ key: "1", kind: "exited", atMs: Date.now() - 600_000, service: "s" },
        ...{ role: "http", index: 0, pid: 7, instance: null, version: null, build: null },
        detail: { reason: "<img src=x onerror=alert(1)>" },
      },
    ],
  },
  stats: async () => [],
  clock: systemClock,
} satisfies Partial<OverviewDeps>;

/** One open group with this number of failed jobs. */
const failuresOf = (numJobs: number) => ({
  ...{ failures: [{ ...sampleFailure, numJobs }], hasStates: true },
  ...{ groupsFromMs: null, jobsFromMs: null, numDropped: 0 },
});

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
  const mail = { name: "mail", is_paused: false, oldest_waiting_seconds: null };
  const queues = async () => [{ ...mail, counts: { failed } }];
  const failures = async () => failuresOf(failed);
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
        ...well,
        jobs: { queues } as unknown as OverviewDeps["jobs"],
        failures: { list: failures },
        maintenance: { read: async () => null },
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
  const failedCell = (page: Page) =>
    page
      .locator("tr", { has: page.locator("a", { hasText: /^mail$/ }) })
      .locator("td")
      .nth(5);
  const shows = (page: Page, text: string) => page.getByText(text).first().waitFor();

  it("shows what has changed, and keeps the focus in place", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open();
    await page.getByRole("link", { name: "mail", exact: true }).focus();
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

  it("keeps what is typed and selected", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open();
    await page.getByRole("searchbox").fill("ABC234");
    await page.getByRole("heading", { name: "Wrong now" }).selectText();
    failed = 17;
    await page.clock.runFor(everyMs);
    await shows(page, "17");
    assert.equal(await page.getByRole("searchbox").inputValue(), "ABC234");
    assert.equal(await page.evaluate(() => String(getSelection()).trim()), "Wrong now");
  });

  it("asks for nothing while its tab is hidden, and at once when it is shown", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open();
    const setHidden = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await setHidden(true);
    let requests = 0;
    page.on("request", () => requests++);
    failed = 23;
    await page.clock.runFor(5 * everyMs);
    assert.equal(requests, 0);
    await setHidden(false);
    await shows(page, "23");
  });

  it("shows what is wrong, with its figures, uncut on a narrow screen", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    failed = 10_000;
    const page = await open();
    failed = 10_000;
    await page.setViewportSize({ width: 360, height: 640 });
    await page.reload();
    const row = page.locator("table").first().locator("tbody tr").first();
    assert.match((await row.textContent()) ?? "", /smtp\.refused.*mail.*10000/s);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    const cell = row.locator("td", { hasText: "10000" });
    assert.ok(await cell.evaluate((each) => each.scrollWidth <= each.clientWidth));
    const marks = page.locator(".chart .marks", { hasText: "<img src=x onerror=alert(1)>" });
    assert.equal(await marks.count(), 1);
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
    // Not by the clock of the page, which is lost when the page is left.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.getByLabel("Token").waitFor();
    assert.match(page.url(), /\/operator\/login$/);
  });
});
