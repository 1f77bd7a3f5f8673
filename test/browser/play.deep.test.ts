import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { Emberline } from "../../server/web/client/emberline.ts";
import {
  atQuestion,
  createGame,
  joinByCode,
  playPage,
  revealed,
  scoreboard,
  type Guest,
} from "../support/play-page.ts";

const { serve, withOne, withTwo, running } = playPage({
  // A job generates questions that are not stored yet.
  env: { RATE_LIMIT_FACTOR: "0" },
});

describe("the play page in a real browser", () => {
  serve();
  describe("is played by two people", () => {
    it("lets two people agree in a co-op game found in the list", async (t) => {
      await withTwo(t, async (host, friend) => {
        await createGame(host, { name: "Alan", mode: "coop", questions: 1, isPublic: true });
        await friend.page.getByLabel("Your name").fill("Joan");
        await friend.page.getByRole("button", { name: "Join the game of Alan" }).click();
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await Promise.all([atQuestion(host, 1), atQuestion(friend, 1)]);
        await friend.page.keyboard.press("1");
        await choiceOf(host, "Joan", 0).waitFor();
        await friend.page.keyboard.press("2");
        await choiceOf(host, "Joan", 1).waitFor();
        await host.page.reload();
        await atQuestion(host, 1);
        await choiceOf(host, "Joan", 1).waitFor();
        await host.page.keyboard.press("2");
        await host.page.getByRole("button", { name: "Lock in the answers" }).click();
        assert.equal(await revealed(host), await revealed(friend));
        assert.equal(await ownPick(host), await ownPick(friend));
        await host.page.getByRole("button", { name: "Show the result" }).click();
        await Promise.all([scoreboard(host), scoreboard(friend)]);
      });
    });

    it("returns a reloaded page to its seat and its answer", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Edsger", mode: "versus", questions: 1 });
        await joinByCode(friend, "Barbara", code);
        await friend.page.reload();
        await friend.page.getByText("Barbara (you)").waitFor();
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await atQuestion(friend, 1);
        // The answer never leaves the page that chose it; the reloaded page sends it again.
        await friend.page.route("**/answer", () => {});
        await friend.page.keyboard.press("4");
        await friend.page.getByText("Sending your answer").waitFor();
        await friend.page.unroute("**/answer");
        await friend.page.reload();
        await host.page.locator("#playing-players").getByText("answered").waitFor();
        await friend.page.locator("#choices button.mine").waitFor();
        await friend.page.reload();
        await friend.page.locator("#choices button.mine").waitFor();
        await host.page.keyboard.press("4");
        assert.equal(await revealed(host), await revealed(friend));
      });
    });

    it("notifies a removed player, and the guests of a host who leaves", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Donald", mode: "versus", questions: 1 });
        await joinByCode(friend, "Guido", code);
        await host.page.getByRole("button", { name: "Remove Guido" }).click();
        await friend.page.getByText("The host removed you from the game.").waitFor();
        await host.page.getByText("1 of 8").waitFor();
        const title = host.page.getByRole("heading", { name: "Waiting for players" });
        assert.ok(await title.evaluate((node) => node === document.activeElement));
        await joinByCode(friend, "Guido", code);
        host.page.on("dialog", (dialog) => void dialog.accept());
        await host.page.getByRole("button", { name: "Leave" }).click();
        await friend.page.getByText("The host left, so the game is over.").waitFor();
        await host.page.getByRole("heading", { name: "Start a game" }).waitFor();
      });
    });
  });
  describe("keeps the player's seat", () => {
    it("continues after the process that served it was killed", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Linus", mode: "versus", questions: 2 });
        // As when somebody copies the address of the page.
        await joinByCode(friend, "Margaret", ` ${running().url}/play#${code} `);
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await Promise.all([atQuestion(host, 1), atQuestion(friend, 1)]);
        const isLost = friend.page.getByText("Connection lost").waitFor();
        for (const pid of await running().workerPids()) process.kill(pid, "SIGKILL");
        await isLost;
        await host.page.keyboard.press("1");
        await friend.page.keyboard.press("2");
        assert.equal(await revealed(host), await revealed(friend));
        for (const { page } of [host, friend])
          await page.getByText("Connection lost").waitFor({ state: "hidden" });
        await host.page.getByRole("button", { name: "Next question" }).click();
        await atQuestion(friend, 2);
        // The browser itself reports requests that met the dead process.
        for (const { problems } of [host, friend]) dropFailedLoads(problems);
      });
    });

    it("keeps two tabs of one browser separate", async (t) => {
      await withOne(t, async (host) => {
        const code = await createGame(host, { name: "Tim", mode: "coop", questions: 1 });
        const tab = { ...host, page: await host.context.newPage() };
        await tab.page.goto(`${running().url}/play#${code}`);
        await tab.page.getByLabel("Your name").fill("Tim's other tab");
        await tab.page.getByRole("button", { name: "Join", exact: true }).click();
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await atQuestion(tab, 1);
        await Promise.all([host.page.reload(), tab.page.reload()]);
        await host.page.getByText("Tim (you)").waitFor();
        await tab.page.getByText("Tim's other tab (you)").waitFor();
        await tab.page.keyboard.press("3");
        await choiceOf(host, "Tim's other tab", 2).waitFor();
      });
    });
  });
  describe("is watched and verified", () => {
    it("lets a stranger watch, verifies every answer and gives the host the result sheet", async (t) => {
      await withTwo(t, async (host, friend) => {
        const game = { name: "Mary", mode: "versus", questions: 1, isPublic: true } as const;
        const code = await createGame(host, game);
        await joinByCode(friend, "Joan", code);
        const watcher = { ...friend, page: await friend.context.newPage() };
        await watcher.page.goto(`${running().url}/play`);
        await watcher.page.getByRole("link", { name: "Watch the game of Mary" }).click();
        await watcher.page.getByText("You are watching.").waitFor();
        await host.page.getByText("1 watching").waitFor();
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await Promise.all([host, friend, watcher].map((guest) => atQuestion(guest, 1)));
        await watcher.page.keyboard.press("1");
        await host.page.keyboard.press("1");
        await friend.page.keyboard.press("2");
        const right = await revealed(host);
        for (const guest of [friend, watcher]) assert.equal(await revealed(guest), right);
        for (const { page } of [host, friend, watcher]) await page.locator("#proof").waitFor();
        await choiceOf(watcher, "Joan", 1).waitFor();
        assert.equal(await watcher.page.locator("#choices .mine").count(), 0);
        await watcher.page.reload();
        assert.equal(await revealed(watcher), right);
        // This window did not see the question while it was open, so it verifies nothing.
        assert.ok(await watcher.page.locator("#proof").isHidden());
        await host.page.getByRole("button", { name: "Show the result" }).click();
        assert.deepEqual(await scoreboard(watcher), await scoreboard(host));
        assert.ok(await friend.page.locator("#sheet").isHidden());
        const sheet = await downloaded(host);
        assert.ok(sheet.startsWith('\ufeff"question_index"'), sheet.slice(0, 40));
        for (const name of ["Mary", "Joan"]) assert.ok(sheet.includes(name), sheet);
      });
    });

    it("shows an alert when an answer is not the one committed to", async (t) => {
      await withTwo(t, async (host, friend) => {
        await friend.page.addInitScript(() => {
          SubtleCrypto.prototype.digest = () => Promise.resolve(new ArrayBuffer(32));
        });
        await friend.page.reload();
        const code = await createGame(host, { name: "Whit", mode: "coop", questions: 1 });
        await joinByCode(friend, "Bailey", code);
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await atQuestion(friend, 1);
        await host.page.getByRole("button", { name: "Lock in the answers" }).click();
        await friend.page
          .getByRole("alert")
          .getByText("not the one the service committed")
          .waitFor();
        await host.page.locator("#proof").waitFor();
      });
    });
  });
  describe("is used with mouse and keyboard", () => {
    it("joins once for two clicks, and keeps the keyboard's position in a changing list", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, {
          name: "Rosa",
          mode: "versus",
          questions: 1,
          isPublic: true,
        });
        const name = "W".repeat(40);
        await friend.page.getByLabel("Your name").fill(name);
        await friend.page.getByRole("button", { name: "Join the game of Rosa" }).dblclick();
        await friend.page.getByRole("heading", { name: "Waiting for players" }).waitFor();
        const remove = host.page.getByRole("button", { name: `Remove ${name}` });
        await remove.focus();
        await withOne(t, async (third) => {
          await joinByCode(third, "Emmy", code);
          await host.page.getByRole("button", { name: "Remove Emmy" }).waitFor();
          const inFocus = () => document.activeElement?.getAttribute("aria-label");
          assert.equal(await host.page.evaluate(inFocus), `Remove ${name}`);
          for (const { page } of [host, friend]) {
            await page.setViewportSize({ width: 320, height: 600 });
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
          }
        });
        assert.equal(await friend.page.locator("#notice-text").innerText(), "");
      });
    });

    it("updates the number of taken seats for a page that shows only the list", async (t) => {
      await withOne(t, async ({ page }) => {
        const fields = { hostName: "Ida", maxPlayers: 2, visibility: "public" } as const;
        const seat = await new Emberline({ url: running().url }).create(fields);
        await page.getByRole("button", { name: "Join the game of Ida, 1 of 2 players" }).waitFor();
        await new Emberline({ url: running().url }).join(seat.code, "Lotte");
        const full = page.getByRole("button", { name: "Full: the game of Ida, 2 of 2 players" });
        assert.ok(await full.isDisabled());
        await seat.leave();
      });
    });

    it("focuses the title of the start page after a player left by keyboard", async (t) => {
      await withOne(t, async (host) => {
        const { page } = host;
        await createGame(host, { name: "Ruth", mode: "versus", questions: 1 });
        page.on("dialog", (dialog) => void dialog.accept());
        await page.getByRole("button", { name: "Leave" }).press("Enter");
        await page.getByRole("heading", { name: "Start a game" }).waitFor();
        const title = page.getByRole("heading", { name: "Play a round of trivia together" });
        assert.ok(await title.evaluate((node) => node === document.activeElement));
      });
    });

    it("returns to the start page when a spectator goes back", async (t) => {
      await withTwo(t, async (host, { page }) => {
        await createGame(host, { name: "Lise", mode: "versus", questions: 1, isPublic: true });
        await page.getByRole("link", { name: "Watch the game of Lise" }).click();
        await page.getByText("You are watching.").waitFor();
        await page.goBack();
        await page.getByRole("link", { name: "Watch the game of Lise" }).waitFor();
        await page.goForward();
        await page.getByText("You are watching.").waitFor();
      });
    });

    it("says what is wrong with an unknown code", async (t) => {
      await withOne(t, async (host) => {
        await host.page.getByLabel("Your name").fill("Ken");
        await host.page.getByLabel("Code", { exact: true }).fill("AAAAAA");
        await host.page.getByRole("button", { name: "Join", exact: true }).click();
        await host.page.getByText("The lobby was not found.").waitFor();
        // The browser itself logs the refusal.
        dropFailedLoads(host.problems);
      });
    });

    it("shows the start page and the documentation without an error, the documentation on a phone too", async (t) => {
      await withOne(t, async ({ page }) => {
        await page.goto(`${running().url}/`);
        for (const text of ["answers; running for", "connected;"])
          await page.getByText(text).waitFor();
        await page.setViewportSize({ width: 320, height: 600 });
        await page.goto(`${running().url}/docs`);
        await page.locator("[data-tag='Gateway']").waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
        await page.locator("[data-tag='Gateway']").click();
        await page.getByText("/v1/gateway/guest", { exact: true }).waitFor();
      });
    });
  });
});

function dropFailedLoads(problems: string[]): void {
  const others = problems.filter((text) => !text.startsWith("Failed to load resource"));
  problems.splice(0, problems.length, ...others);
}

/** Text of the file that a click on the result sheet saves. */
async function downloaded({ page }: Guest): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#sheet").click(),
  ]);
  return readFile(await download.path(), "utf8");
}

/** The mark of another player at one of the four choices. */
function choiceOf({ page }: Guest, name: string, choice: number) {
  return page.locator("#choices li").nth(choice).getByText(name);
}

function ownPick({ page }: Guest): Promise<string> {
  return page.locator("#choices .mine .choice-text").innerText();
}
