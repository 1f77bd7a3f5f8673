import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { NewState } from "../../server/features/faults/domain/failures.ts";
import type { AuditEntry } from "../../server/operator/audit.ts";
import { failureRoutes, type FailuresDeps } from "../../server/operator/failures/routes.ts";
import { sessionRoutes } from "../../server/operator/session/routes.ts";
import { sharedBrowser } from "../support/browser.ts";
import { startOperatorPart } from "../support/operator.ts";
import { listAudits } from "../server/operator/audits.ts";
import { noActions } from "../server/operator/failures/no-actions.ts";
import { sampleFailure } from "../server/operator/failures/sample-failure.ts";

const narrow = { width: 360, height: 640 };
const large = { numJobs: 100_000, numPlayers: 1_234_567, total: 987_654_321 };

describe("the failures in a real browser, without scripts", () => {
  let browser: Browser | null;
  let part: Awaited<ReturnType<typeof startOperatorPart>>;
  const audited: (AuditEntry & { operator: string })[] = [];
  let shown = { ...sampleFailure, ...large };
  const set = (change: object) => {
    shown = { ...shown, ...change };
  };

  before(async () => {
    browser = await sharedBrowser();
    part = await startOperatorPart<FailuresDeps>({
      routes: [...failureRoutes, ...sessionRoutes],
      deps: {
        failures: {
          list: async () => ({
            ...{ failures: [shown], hasStates: true },
            ...{ groupsFromMs: null, jobsFromMs: null, numDropped: 0 },
          }),
          find: async () => shown,
          setState: async (_id, { state }: NewState) => set({ state }),
          setNote: async (_id, { note }) => set({ decision: { ...shown.decision, note } }),
        },
        failureActions: noActions,
        audit: listAudits(audited),
      },
    });
  });
  after(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    await part.stop();
  });

  const open = async (path: string): Promise<Page> => {
    assert.ok(browser);
    const context = await browser.newContext({ viewport: narrow, javaScriptEnabled: false });
    await context.addCookies([{ name: "operator", value: "token-of-operator", url: part.url }]);
    const page = await context.newPage();
    await page.goto(`${part.url}${path}`);
    return page;
  };
  const detail = `/operator/failures/${sampleFailure.id}`;

  it("cut no figure on a narrow screen", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    for (const path of ["/operator/failures", detail]) {
      const page = await open(path);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(width, narrow.width, path);
      const cut = await page.locator("td").evaluateAll((cells) =>
        cells
          .filter((cell) => /^[\d:T-]+$/.test(cell.textContent?.trim() ?? ""))
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

  it("draw the columns of a day", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open(detail);
    const box = await page.locator(".chart rect").last().boundingBox();
    assert.ok(box && box.height > 20 && box.width > 2, JSON.stringify(box));
  });

  it("take a note and a state with its reason, and show the group again", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const page = await open("/operator/failures");
    await page.getByRole("link", { name: "smtp.refused" }).click();
    await page.getByLabel("Note").fill("<img src=x onerror=alert(1)> & asked");
    await page.getByRole("button", { name: "Save note" }).click();
    await page.locator(".note", { hasText: "<img src=x onerror=alert(1)> & asked" }).waitFor();
    await page.getByLabel("Resolve: reason").fill("server mended");
    await page.getByRole("button", { name: "Resolve" }).click();
    await page.getByRole("button", { name: "Reopen" }).waitFor();
    assert.equal(new URL(page.url()).pathname, detail);
    assert.deepEqual(audited.at(-1), {
      operator: "the operator",
      action: "failure:resolved",
      target: `failure ${sampleFailure.id}`,
      reason: "server mended",
    });
  });
});
