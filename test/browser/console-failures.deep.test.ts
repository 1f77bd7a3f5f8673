import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../support/browser.ts";
import { counts, numPlayers, startFailures } from "./console-failures.ts";
import { Operator } from "./console-page.ts";

describe("ten thousand failures of four causes, as an operator sees them", () => {
  let browser: Browser | null;
  let app: Awaited<ReturnType<typeof startFailures>>;
  let ada: Operator;

  before(async () => {
    browser = await sharedBrowser();
    app = await startFailures();
    if (browser) ada = await Operator.signIn(browser, app.service);
  });
  after(async () => {
    if (browser) await ada.close();
    await app.stop();
  });

  it("shows cause, count, since when and players without a click after the login", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const rows = ada.page.locator("table").first().locator("tbody tr");
    const shown = new Map<string, string[]>();
    for (const row of await rows.all()) {
      const cells = (await row.locator("td").allTextContents()).map((text) => text.trim());
      shown.set(cells[0] ?? "", cells);
    }
    const rowOf = (cause: string) =>
      [...shown].find(([what]) => what.includes(cause))?.[1] ?? assert.fail(`${cause} is missing`);
    for (const [cause, place, count] of [
      ["smtp.refused mail-a.example:25 550", "mail", counts.refused],
      ["smtp.deferred mail-b.example:25 451", "mail", counts.greylisted],
      ["moderation.status eye.example:443 500", "avatar-moderation", counts.moderation],
      ["no row for request", "credential-requests", counts.credentials],
    ] as const) {
      const [, where, failedNow, lastHour, players, since] = rowOf(cause);
      assert.deepEqual([where, failedNow, lastHour], [place, String(count), String(count)]);
      assert.ok(Math.abs(Number(players) - numPlayers) <= 10, players);
      assert.match(since ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    }
    assert.match(rowOf("out of tokens")[0] ?? "", /degraded/);
    assert.ok(ada.takeClicks() <= 3);
    await ada.takePicture("overview");
    await ada.isWholeWhenNarrow();
  });

  it("retries one cause in at most six clicks and a minute, exactly its jobs, once each", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    app.mails.mend();
    const { page } = ada;
    await ada.click(page.getByRole("link", { name: /smtp\.deferred/ }));
    await ada.takePicture("group");
    await ada.isWholeWhenNarrow();
    await ada.click(page.getByRole("link", { name: `Retry jobs: ${counts.greylisted}` }));
    await page.getByLabel("Reason").fill("the server is back");
    await ada.isWholeWhenNarrow();
    const startedAt = performance.now();
    await ada.click(page.getByRole("button", { name: "Retry jobs" }));
    const state = page.locator("tr", { hasText: "State" }).locator("td").nth(1);
    await page.waitForFunction(
      () => [...document.querySelectorAll("td")].some((cell) => cell.textContent.trim() === "done"),
      undefined,
      { timeout: 60_000 },
    );
    assert.equal((await state.textContent())?.trim(), "done");
    assert.ok(performance.now() - startedAt <= 60_000);
    assert.ok(ada.takeClicks() <= 6);
    assert.equal(app.mails.runs.size, counts.greylisted);
    assert.ok([...app.mails.runs].every(([id, runs]) => id > counts.refused && runs === 1));
    assert.equal(await app.numFailed(), 10_000 - counts.greylisted);
    await ada.isWholeWhenNarrow();
  });

  it("cuts no figure on a narrow screen, and shows texts of others as text", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    for (const path of [
      "/operator/failures",
      "/operator/queues",
      "/operator/queues/mail",
      "/operator/queues/mail/jobs?state=failed",
      "/operator/jobs/mail/message-1-0",
      "/operator/workers",
      "/operator/rooms",
      "/operator/rooms/lobby",
      "/operator/audit",
    ]) {
      await ada.go(path);
      await ada.isWholeWhenNarrow();
      assert.equal(await ada.page.locator("main img").count(), 0, path);
      assert.notEqual(await ada.page.title(), "hit");
    }
  });
});
