import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { sharedBrowser } from "../support/browser.ts";
import { member, startReview, type Review } from "../support/review.ts";

/** Three pages of waiting pictures. */
const waiting = 60;
const firstPage = "/operator/avatar-uploads?limit=24";
const narrow = { width: 320, height: 640 };

describe("the review of avatars in a real browser, without scripts and without a mouse", () => {
  let review: Review;
  let browser: Browser | null;
  before(async () => {
    browser = await sharedBrowser();
    if (!browser) return;
    review = await startReview();
    const one = await member(review.app);
    const { id } = await one.send();
    const more = sql`insert into avatar_uploads
      (player_id, status, file, judged_by, judged_at, selection_v, created_at)
      select player_id, status, file, judged_by, judged_at, selection_v, created_at
      from avatar_uploads, generate_series(2, ${waiting}) where id = ${id}`;
    await rowsOf(review.app.deps.em, more);
  });
  after(async () => {
    if (!browser) return;
    for (const context of browser.contexts()) await context.close();
    await review.stop();
  });

  const open = async (colorScheme: "light" | "dark", role = "operator"): Promise<Page> => {
    assert.ok(browser);
    const context = await browser.newContext({
      viewport: narrow,
      colorScheme,
      javaScriptEnabled: false,
    });
    await context.addCookies([{ name: "operator", value: `token-of-${role}`, url: review.url }]);
    const page = await context.newPage();
    await page.goto(`${review.url}${firstPage}`);
    return page;
  };
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { textContent, parentElement } = document.activeElement ?? document.body;
      return [textContent, parentElement?.closest("section")?.id ?? ""].join(" ").trim();
    });
  /** Presses Tab until this has the focus. */
  const tabTo = async (page: Page, wanted: string) => {
    for (let presses = 0; (await focused(page)) !== wanted; presses++) {
      assert.ok(presses < 100, `${wanted} cannot be reached`);
      await page.keyboard.press("Tab");
    }
  };
  const press = async (page: Page, key: string) => {
    const loaded = page.waitForEvent("load");
    await page.keyboard.press(key);
    await loaded;
  };
  const ids = async (page: Page) =>
    page.locator("section").evaluateAll((all) => all.map(({ id }) => id));

  it("decides one entry after another on a later page", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open("light");
    await tabTo(page, "More");
    await press(page, "Enter");
    const address = page.url();
    const [first, second, third, fourth] = await ids(page);
    await tabTo(page, `Approve ${first}`);
    await press(page, "Enter");
    assert.equal(page.url(), `${address}#${second}`);
    // The next key press starts at the next entry, not at the top of the page.
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), `Approve ${second}`);
    await page.keyboard.press("Tab");
    await page.keyboard.type("No.");
    await press(page, "Enter");
    assert.equal(page.url(), `${address}#${third}`);
    assert.deepEqual((await ids(page)).slice(0, 2), [third, fourth]);
    await tabTo(page, "More");
    await press(page, "Enter");
    assert.equal((await ids(page)).length, waiting - 2 * 24 - 2);
    await tabTo(page, "Rejected");
    await press(page, "Enter");
    await tabTo(page, `Undo ${second}`);
    await press(page, "Enter");
    await page.getByText("None.").waitFor();
  });

  it("fits a narrow screen and can be read in both themes", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const [id = ""] = (await ids(await open("light"))).map((one) => one.replace(/\D+/, ""));
    await review.decide(Number(id), "reject", { reason: "W".repeat(255) });
    for (const theme of ["light", "dark"] as const) {
      const page = await open(theme);
      for (const query of ["", "&status=rejected"]) {
        await page.goto(`${review.url}${firstPage}${query}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, narrow.width, `${theme}${query}`);
        for (const place of ["button", "a", "h2", "label"]) {
          const text = page.locator(place).first();
          if ((await text.count()) === 0) continue;
          const ratio = await text.evaluate(contrast);
          assert.ok(ratio >= 4.5, `${theme}${query} ${place}: ${ratio}`);
        }
      }
    }
  });

  it("shows a viewer the list, and a page that refuses the pictures", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open("dark", "viewer");
    const [first = ""] = await ids(page);
    assert.equal(await page.locator("section img, section button").count(), 0);
    const id = first.replace(/\D+/, "");
    await page.goto(`${review.url}/operator/avatar-uploads/${id}/picture`);
    await page.getByRole("alert").getByText("may not").waitFor();
    await page.getByRole("link", { name: "Operator", exact: true }).waitFor();
  });
});

/**
 * Contrast of a text and its background by WCAG; runs in the page, which lacks the helper with which tsx names arrow
 * functions.
 */
function contrast(element: Element): number {
  const color = {
    numbers(text: string) {
      return (text.match(/[\d.]+/g) ?? []).map(Number);
    },
    luminance(text: string) {
      const [r = 0, g = 0, b = 0] = color
        .numbers(text)
        .map((value) =>
          value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
        );
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    },
  };
  let behind: Element | null = element;
  while (behind && color.numbers(getComputedStyle(behind).backgroundColor)[3] === 0)
    behind = behind.parentElement;
  const ground = color.luminance(getComputedStyle(behind ?? document.body).backgroundColor);
  const ink = color.luminance(getComputedStyle(element).color);
  return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
}
