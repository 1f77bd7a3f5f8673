import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildReport } from "../../bench/report/build.ts";
import { reportPage } from "../../bench/report/page.ts";
import { measured } from "../bench/measured.ts";
import { sharedBrowser } from "../support/browser.ts";

describe("the page of a load test", () => {
  for (const colorScheme of ["light", "dark"] as const)
    it(`draws its charts and reads them by the keyboard, ${colorScheme}`, async (t) => {
      const browser = await sharedBrowser();
      if (!browser) return t.skip("no browser");
      const page = await browser.newPage({ colorScheme });
      const problems: string[] = [];
      page.on("pageerror", ({ message }) => problems.push(message));
      page.on("request", (request) => problems.push(request.url()));
      try {
        await page.setContent(reportPage(buildReport(measured())));
        const chart = page.locator("figure", { hasText: "Response time of read" });
        await chart.focus();
        await page.keyboard.press("Home");
        await page.keyboard.press("ArrowRight");
        assert.match((await chart.locator(".u-legend").textContent()) ?? "", /second1p5020\.0/);
        const sizes = await page.evaluate(() =>
          [...document.querySelectorAll("figure")].map((one) => one.scrollWidth - one.clientWidth),
        );
        assert.deepEqual(sizes, [0, 0, 0, 0]);
        await page.emulateMedia({ media: "print" });
        await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
        assert.equal(await page.locator("figure canvas").count(), 4);
        assert.deepEqual(problems, []);
      } finally {
        await page.close();
      }
    });
});
