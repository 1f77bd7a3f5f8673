import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type * as Client from "../../server/web/client/emberline.ts";
import { playPage } from "../support/play-page.ts";

const { serve, withOne } = playPage({ env: { RATE_LIMIT_FACTOR: "0" } });

describe("the published client in a real browser", () => {
  serve();

  it("works with the browser's own `fetch` as its option", async (t) => {
    await withOne(t, async ({ page }) => {
      const status = await page.evaluate(async () => {
        const path = "/client/emberline.js";
        const { Emberline } = (await import(
          path
        )) as typeof import("../../server/web/client/emberline.ts");
        return (await new Emberline({ fetch }).health()).status;
      });
      assert.equal(status, "ok");
    });
  });
});
