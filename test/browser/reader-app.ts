import assert from "node:assert/strict";
import { after, before, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { projectionOf } from "../../db/projections/refresh.ts";
import { startApp, type App } from "../support/app.ts";
import { entity, load as loadInto, type EnvelopeInput } from "../support/archive.ts";
import { sharedBrowser } from "../support/browser.ts";
import { openReader, shiftOf } from "../support/reader-page.ts";

export const hostile = `<img src=x onerror="document.title='broken'">"'</td><script>`;

export const trap = entity("id.item.trap", {
  name: hostile,
  tags: [hostile],
  data: { note: hostile, [hostile]: [hostile], power: 7 },
});

export let app: App;
export let browser: Browser | null = null;
export const load = (input: EnvelopeInput) =>
  loadInto(app, input, { project: projectionOf("gamedata") });

/** One window; any error or layout shift inside it fails the test. */
export async function read(t: TestContext, path: string, look: (page: Page) => Promise<void>) {
  if (!browser) return t.skip("no browser on this machine");
  const { page, problems, close } = await openReader(browser, app.url, path);
  try {
    await look(page);
    assert.deepEqual(problems, []);
    assert.ok((await shiftOf(page)) < 0.02, "the page moved while it was shown");
  } finally {
    await close();
  }
}

/** The service and a browser, if the machine has one. */
export function startsReaderApp(): void {
  before(async () => {
    browser = await sharedBrowser();
    if (browser) app = await startApp({ hasJobs: false });
  });
  after(async () => {
    if (browser) await app.stop();
  });
}
