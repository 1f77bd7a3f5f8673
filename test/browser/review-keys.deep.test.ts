import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { sharedBrowser } from "../support/browser.ts";
import { member, startReview, type Review } from "../support/review.ts";

const numWaiting = 6;

describe("the review of avatars by keyboard", () => {
  let review: Review;
  let browser: Browser | null;
  let page: Page;
  let own: number[];
  before(async () => {
    browser = await sharedBrowser();
    if (!browser) return;
    review = await startReview();
    const { id } = await (await member(review.app)).send();
    const more = sql`insert into avatar_uploads
      (player_id, status, file, judged_by, judged_at, selection_v, created_at)
      select player_id, status, file, judged_by, judged_at, selection_v, created_at
      from avatar_uploads, generate_series(2, ${numWaiting}) where id = ${id}`;
    await rowsOf(review.app.deps.em, more);
    own = (await review.list("?status=queued")).uploads.map((upload) => upload.id);
    const context = await browser.newContext({ viewport: { width: 360, height: 640 } });
    await context.addCookies([{ name: "operator", value: "token-of-operator", url: review.url }]);
    page = await context.newPage();
    await page.goto(`${review.url}/operator/avatar-uploads?limit=4`);
    await page.locator("section.current").waitFor();
  });
  after(async () => {
    if (!browser) return;
    for (const context of browser.contexts()) await context.close();
    await review.stop();
  });

  const at = (n: number) => own[n] ?? assert.fail();
  const marked = () => page.locator("section.current").getAttribute("id");
  const statusOf = async (n: number) => {
    const all = await Promise.all(
      ["queued", "approved", "rejected"].map((status) => review.list(`?status=${status}`)),
    );
    return all.flatMap(({ uploads }) => uploads).find(({ id }) => id === at(n));
  };
  /** Presses a key and waits until the entry has left the list, or is back. */
  const press = async (key: string, n: number, state: "attached" | "detached") => {
    await page.keyboard.press(key);
    await page.locator(`#upload-${at(n)}`).waitFor({ state });
  };

  it("shows its keys, and moves between the entries", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    await page.getByText("take the last decision back").waitFor();
    assert.equal(await marked(), `upload-${at(0)}`);
    await page.keyboard.press("k");
    assert.equal(await marked(), `upload-${at(0)}`, "there is none before");
    await page.keyboard.press("j");
    assert.equal(await marked(), `upload-${at(1)}`);
    await page.keyboard.press("k");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(width, 360);
  });

  it("approves, rejects for a listed reason, and takes the last decision back", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    await press("a", 0, "detached");
    assert.equal(await marked(), `upload-${at(1)}`);
    await press("2", 1, "detached");
    const rejected = await statusOf(1);
    assert.deepEqual(
      [rejected?.status, rejected?.rejection_reason],
      ["rejected", "Violence or gore."],
    );
    await press("u", 1, "attached");
    assert.equal((await statusOf(1))?.status, "queued");
    assert.equal(await marked(), `upload-${at(1)}`);
    await press("u", 0, "attached");
    assert.equal((await statusOf(0))?.status, "queued");
    await page.keyboard.press("u");
    await page.getByText("no decision to take back").waitFor();
  });

  it("leaves keys to a text field that has the focus", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    await page.keyboard.press("r");
    await page.keyboard.type("jaku1");
    assert.equal(await marked(), `upload-${at(0)}`);
    assert.equal(await page.locator(`#reason-${at(0)}`).inputValue(), "jaku1");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    assert.equal(await marked(), `upload-${at(1)}`);
    await page.keyboard.press("k");
    await page.keyboard.press("r");
    await press("Enter", 0, "detached");
    assert.equal((await statusOf(0))?.rejection_reason, "jaku1");
  });

  it("does not take back what somebody else has decided since", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    await review.decide(at(0), "approve");
    await page.keyboard.press("u");
    await page.getByText("Somebody decided meanwhile").waitFor();
    assert.equal((await statusOf(0))?.status, "approved");
  });

  it("goes on with the following entries, and still takes the last decision back", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    await press("a", 1, "detached");
    await press("a", 2, "detached");
    const loaded = page.waitForEvent("load");
    await page.keyboard.press("a");
    await loaded;
    await page.locator("section.current").waitFor();
    assert.equal(await marked(), `upload-${at(4)}`);
    await press("u", 3, "attached");
    assert.equal((await statusOf(3))?.status, "queued");
  });

  it("offers a viewer no keys", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const text = await (await review.open("", "viewer")).text();
    assert.doesNotMatch(text, /class="keys"|review\.js/);
  });
});
