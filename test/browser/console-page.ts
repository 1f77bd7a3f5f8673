import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import type { Service } from "../support/process.ts";

const narrow = { width: 360, height: 740 };
const wide = { width: 1_100, height: 760 };

/** An operator at a browser, whose clicks are counted from the login on. */
export class Operator {
  readonly page: Page;
  #clicks = 0;

  private constructor(page: Page) {
    this.page = page;
  }

  static async signIn(browser: Browser, service: Service): Promise<Operator> {
    const context = await browser.newContext({ viewport: wide });
    const page = await context.newPage();
    await page.goto(`${service.operatorUrl}/operator/login`);
    await page.getByLabel("Token").fill(service.operatorToken);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Operator", exact: true }).waitFor();
    return new Operator(page);
  }

  /** Clicks since the last call. */
  takeClicks(): number {
    const clicks = this.#clicks;
    this.#clicks = 0;
    return clicks;
  }

  async click(target: Locator): Promise<void> {
    this.#clicks++;
    await target.click();
  }

  /** One click: the field itself is focused by its key or by tabbing. */
  async search(text: string): Promise<void> {
    await this.page.getByRole("searchbox").fill(text);
    await this.click(this.page.getByRole("button", { name: "Search" }));
  }

  async go(path: string): Promise<void> {
    await this.page.goto(new URL(path, this.page.url()).href);
  }

  /** Fails if a page is wider than a phone or cuts a figure. */
  async isWholeWhenNarrow(): Promise<void> {
    // A click ends before the next page has its style sheet.
    await this.page.waitForLoadState("load");
    await this.page.setViewportSize(narrow);
    const { pathname } = new URL(this.page.url());
    const width = await this.page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(width, narrow.width, pathname);
    const cut = await this.page.locator("td").evaluateAll((cells) =>
      cells
        .filter((cell) => /^\d+$/.test(cell.textContent.trim()))
        .filter((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          return tops.size > 1 || cell.scrollWidth > cell.clientWidth;
        })
        .map((cell) => cell.textContent),
    );
    assert.deepEqual(cut, [], pathname);
    await this.page.setViewportSize(wide);
  }

  /** For the README, if `PICTURES` is set. */
  async takePicture(name: string): Promise<void> {
    if (!process.env["PICTURES"]) return;
    const path = fileURLToPath(new URL(`../../.assets/operator-${name}.png`, import.meta.url));
    await this.page.screenshot({ path });
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
