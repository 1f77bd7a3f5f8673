import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { Emberline } from "../../server/web/client/emberline.ts";
import {
  atQuestion,
  createGame,
  joinByCode,
  playPage,
  revealed,
  setHidden,
  type Guest,
} from "../support/play-page.ts";
import { startProxy } from "../support/proxy.ts";

const { serve, withOne, withTwo, running } = playPage({
  env: { RATE_LIMIT_FACTOR: "0", LOBBY_MIN_QUESTION_MS: "0" },
  isOurs: (asked) => asked.startsWith("http://127.0.0.1:"),
});

const start = ({ page }: Guest) => page.getByRole("button", { name: "Start the game" }).click();

describe("the play page that was away", () => {
  serve();

  it("shows the question of a game that went on while its connections died", async (t) => {
    const proxy = await startProxy({
      port: Number(new URL(running().url).port),
      host: "127.0.0.1",
    });
    try {
      await withTwo(t, async (host, friend) => {
        await friend.page.goto(`http://127.0.0.1:${proxy.port}/play`);
        const code = await createGame(host, { name: "Ada", mode: "versus", questions: 1 });
        await joinByCode(friend, "Grace", code);
        proxy.silence();
        await start(host);
        await atQuestion(host, 1);
        await friend.page.evaluate(() => window.dispatchEvent(new Event("online")));
        // A silent connection is found after 35 s in any case.
        await friend.page.getByText("Question 1 of").waitFor({ timeout: 30_000 });
        await friend.page.keyboard.press("1");
        await host.page.keyboard.press("1");
        assert.equal(await revealed(host), await revealed(friend));
      });
    } finally {
      await proxy.stop();
    }
  });

  it("leaves the browser's connections to the seventh tab, keeps its seat, and comes back", async (t) => {
    await withTwo(t, async (host, { context, page: first }) => {
      const code = await createGame(host, { name: "Ada", mode: "versus", questions: 1 });
      const tabs: { name: string; page: Page }[] = [];
      for (const name of ["Grace", "Radia", "Hedy", "Mary", "Lise", "Emmy", "Rosa"]) {
        const page = name === "Grace" ? first : await context.newPage();
        await page.clock.install();
        await page.goto(`${running().url}/play`);
        await joinByCode({ page, context, problems: [] }, name, code);
        if (name !== "Rosa") await setHidden(page, true);
        tabs.push({ name, page });
      }
      await start(host);
      const rosa = tabs.at(-1)?.page ?? first;
      await rosa.getByText("Question 1 of").waitFor();
      assert.ok(await first.getByText("Question 1 of").isHidden(), "while it is hidden");
      const isBeating = first.waitForResponse(/\/heartbeat$/);
      await first.clock.fastForward(30_000);
      assert.equal((await isBeating).status(), 200);
      await rosa.keyboard.press("1");
      for (const { page } of tabs.slice(0, -1)) {
        await setHidden(page, false);
        await page.getByText("Question 1 of").waitFor();
        await page.keyboard.press("1");
        await page.getByText("Waiting for the others").waitFor();
        await setHidden(page, true);
      }
      const { players } = await new Emberline({ url: running().url }).lobby(code);
      assert.equal(players.filter((player) => player.is_connected).length, 8);
      assert.equal(players.filter((player) => player.has_answered).length, 7);
    });
  });

  it("takes the browser's own `fetch` as an option of its client", async (t) => {
    await withOne(t, async ({ page }) => {
      const status = await page.evaluate(async () => {
        const path = "/client/emberline.js";
        const { Emberline: Client }: { Emberline: typeof Emberline } = await import(path);
        return (await new Client({ fetch }).health()).status;
      });
      assert.equal(status, "ok");
    });
  });
});
