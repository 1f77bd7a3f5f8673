import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { jobRoutes, type JobsDeps } from "../../server/operator/jobs/routes.ts";
import { listAudits } from "../server/operator/audits.ts";
import { noActions } from "../server/operator/failures/no-actions.ts";
import { countsOf } from "../../server/platform/job-times/histogram.ts";
import { createJobService } from "../../server/operator/jobs/service.ts";
import { sessionRoutes } from "../../server/operator/session/routes.ts";
import { minuteMs, type Cell } from "../../server/platform/job-times/recorder.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { createJobTimes } from "../../workers/job-times.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { sharedBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { startOperatorPart } from "../support/operator.ts";
import { testStores, type TestStores } from "../support/stores.ts";

const narrow = { width: 360, height: 640 };
const job = "/operator/jobs/mail/message-123456-0";

describe("queues and jobs in a real browser, without scripts", () => {
  let browser: Browser | null;
  let stores: TestStores;
  let queues: Queues;
  let redis: ReturnType<typeof connectRedis>;
  let part: Awaited<ReturnType<typeof startOperatorPart>>;

  before(async () => {
    browser = await sharedBrowser();
    stores = await testStores();
    queues = createQueues(stores.redisUrl, silentLogger);
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    const jobTimes = createJobTimes(redis, systemClock);
    const now = Math.floor(Date.now() / minuteMs);
    const cells = Array.from({ length: 30 }, (_, minute): Cell => [
      ...([now - minute, 12_345, minute, 3] as const),
      countsOf(
        new Map([
          [50, 12_000],
          [70, 345],
        ]),
      ),
      countsOf(new Map([[40, 12_348]])),
    ]);
    const batch = { instance: "i", seq: 1, numDropped: 0 };
    await jobTimes.write({ ...batch, queues: [{ name: "mail", cells, retries: [] }] });
    const mail = queues.all().find(({ name }) => name === "mail") ?? assert.fail();
    await mail.add("mail", { messageId: 1 }, { jobId: "message-123456-0" });
    part = await startOperatorPart<JobsDeps>({
      routes: [...jobRoutes, ...sessionRoutes],
      deps: {
        ...{ jobTimes, jobs: createJobService(queues.all(), systemClock, jobTimes) },
        failures: { list: async () => ({ failures: [] }) } as unknown as JobsDeps["failures"],
        groupOfJob: async () => null,
        ...{ audit: listAudits(), failureActions: noActions },
      },
    });
  });
  after(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    await part.stop();
    await queues.close();
    redis.disconnect();
    await stores.stop();
  });

  const open = async (path: string): Promise<Page> => {
    assert.ok(browser);
    const context = await browser.newContext({ viewport: narrow, javaScriptEnabled: false });
    await context.addCookies([{ name: "operator", value: "token-of-operator", url: part.url }]);
    const page = await context.newPage();
    // On a busy machine a page may say that Redis does not respond.
    await eventually(`${path} has its figures`, async () => {
      await page.goto(`${part.url}${path}`);
      return (await page.getByText("does not").count()) === 0;
    });
    return page;
  };

  it("fit a narrow screen, and cut no figure", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    for (const path of [
      "/operator/queues",
      "/operator/queues/mail",
      "/operator/queues/mail/jobs?state=waiting",
      job,
    ]) {
      const page = await open(path);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(width, narrow.width, path);
      const cut = await page.locator("td").evaluateAll((cells) =>
        cells
          .filter((cell) =>
            /^[\d.:T-]+(?: (?:ms|s|min|h|d))?$/.test(cell.textContent?.trim() ?? ""),
          )
          .filter((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
            return tops.size > 1 || cell.scrollWidth > cell.clientWidth;
          })
          .map((cell) => cell.textContent),
      );
      assert.deepEqual(cut, [], path);
    }
  });

  it("draw a chart as wide as the page, with readable texts beside it", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open("/operator/queues/mail");
    const box = await page.getByRole("img", { name: /^jobs a minute, from / }).boundingBox();
    assert.ok(
      box && box.width > 250 && box.width < narrow.width && box.height > 80,
      `${box?.width}`,
    );
    const size = await page
      .locator(".chart .scale span")
      .first()
      .evaluate((span) => Number.parseFloat(getComputedStyle(span).fontSize));
    assert.ok(size >= 12, `${size}px`);
  });

  it("lead from the list to a job, which is removed with one button", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open("/operator/queues");
    await page.getByRole("link", { name: "mail" }).first().click();
    await page.getByRole("link", { name: "Waiting" }).click();
    await page.getByRole("link", { name: "message-123456-0" }).click();
    assert.equal(new URL(page.url()).pathname, job);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByText("None.").waitFor();
    const { pathname, search } = new URL(page.url());
    assert.equal(pathname + search, "/operator/queues/mail/jobs?state=failed");
  });
});
