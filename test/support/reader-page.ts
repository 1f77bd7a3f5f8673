import type { Browser, Page } from "playwright-core";

const stepLimitMs = 60_000;

/** A window with a page of the archive or the game data. */
export interface Reader {
  page: Page;
  /** Errors of scripts, of the console and of the content policy, and requests to other sites. */
  problems: string[];
  close(): Promise<void>;
}

/** Opens the page and waits until it shows its data. */
export async function openReader(browser: Browser, url: string, path: string): Promise<Reader> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(stepLimitMs);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) problems.push(`asked ${request.url()}`);
  });
  await page.addInitScript(`
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  `);
  await page.goto(url + path);
  await page.locator("main:not([aria-busy])").first().waitFor();
  return { page, problems, close: () => context.close() };
}

/** Layout shift of the current page since it was opened, as browsers measure it (0 to 1). */
export const shiftOf = async (page: Page): Promise<number> => Number(await page.evaluate("shift"));
