import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page, Route } from "playwright-core";
import {
  createGame,
  joinByCode,
  playPage,
  revealed,
  setHidden,
  startTogether,
  type Guest,
} from "../support/play-page.ts";

const { serve, withOne, withTwo, running } = playPage({
  env: { RATE_LIMIT_FACTOR: "0", LOBBY_MIN_QUESTION_MS: "0" },
  isOwn: (problem) => !problem.startsWith("Failed to load resource"),
});

describe("the play page on bad connections", () => {
  serve();
  describe("survives lost connections", () => {
    it("says at the start, too, that the service is unavailable, and shows its list when it is back", async (t) => {
      await withTwo(t, async (host, { page, context }) => {
        await context.setOffline(true);
        await page.getByText("Connection lost").waitFor();
        await createGame(host, { name: "Hedy", mode: "versus", questions: 1, isPublic: true });
        await context.setOffline(false);
        await page.getByRole("button", { name: "Join the game of Hedy" }).waitFor();
        await page.getByText("Connection lost").waitFor({ state: "hidden" });
      });
    });

    it("leaves the browser's connections to the tab in front, and shows its list when it is visible again", async (t) => {
      await withTwo(t, async (host, { page: first, context }) => {
        const hidden: Page[] = [];
        for (const path of ["/play", "/", "/play", "/", "/play", "/"]) {
          const page = await context.newPage();
          const isFollowing = page.waitForResponse(listStream);
          await page.goto(running().url + path);
          await isFollowing;
          await setHidden(page, true);
          hidden.push(page);
        }
        await first.reload();
        await createGame(host, { name: "Radia", mode: "versus", questions: 1, isPublic: true });
        const name = "Join the game of Radia";
        await first.getByRole("button", { name }).waitFor();
        await setHidden(first, true);
        for (const page of hidden.slice(0, 2)) {
          assert.equal(await page.getByRole("button", { name }).count(), 0);
          const isFollowing = page.waitForResponse(listStream);
          await setHidden(page, false);
          await isFollowing;
        }
        await hidden[0]?.getByRole("button", { name }).waitFor();
      });
    });

    it("reports a lost network at once, and sends a pending answer when it is back", async (t) => {
      await withTwo(t, async (host, friend) => {
        await startTogether(host, friend, "versus");
        await friend.context.setOffline(true);
        await friend.page.keyboard.press("2");
        await friend.page.getByText("Sending your answer").waitFor();
        await friend.page.getByText("Connection lost").waitFor();
        await friend.context.setOffline(false);
        await friend.page.getByText("Waiting for the others").waitFor();
        await friend.page.getByText("Connection lost").waitFor({ state: "hidden" });
        await host.page.keyboard.press("2");
        assert.equal(await revealed(host), await revealed(friend));
        assert.equal(await chosen(friend), 1);
      });
    });

    it("says why a removal failed, and removes the player on retry", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Ada", mode: "coop", questions: 1 });
        await joinByCode(friend, "Grace", code);
        const remove = host.page.getByRole("button", { name: "Remove Grace" });
        await host.page.route("**/players/*", refuse);
        await remove.click();
        await host.page.getByText("Not here.").waitFor();
        await host.page.unroute("**/players/*", refuse);
        await remove.click();
        await remove.waitFor({ state: "detached" });
        await friend.page.getByText("The host removed you from the game.").waitFor();
      });
    });

    it("shows the open games to a player who was removed while the page was closed", async (t) => {
      await withTwo(t, async (host, friend) => {
        const game = { name: "Ada", mode: "coop", questions: 1, isPublic: true } as const;
        await joinByCode(friend, "Grace", await createGame(host, game));
        await friend.page.goto("about:blank");
        const remove = host.page.getByRole("button", { name: "Remove Grace" });
        await remove.click();
        await remove.waitFor({ state: "detached" });
        await friend.page.goto(`${running().url}/play`);
        await friend.page.getByText("You are no longer in this game.").waitFor();
        await friend.page.getByRole("button", { name: "Join the game of Ada" }).waitFor();
      });
    });

    it("shows its categories even if the first request for them failed", async (t) => {
      await withOne(t, async ({ page }) => {
        await page.route("**/categories", refuse);
        const isRefused = page.waitForResponse("**/categories");
        await page.reload();
        await isRefused;
        await page.unroute("**/categories", refuse);
        await page.locator("#category option[value=science]").waitFor({ state: "attached" });
      });
    });
  });
});

const listStream = /\/v1\/hub\?topic=[^&]*lobbies$/;

/** The service's response for a lobby that no longer exists. */
const refuse = (route: Route) => route.fulfill({ status: 404, body: refusal });

const refusal = JSON.stringify({
  flash: { errors: [{ code: "lobby:not_found", message: "Not here." }] },
});

async function chosen(guest: Guest): Promise<number> {
  return guest.page
    .locator("#choices button")
    .evaluateAll((all) => all.findIndex((button) => button.classList.contains("mine")));
}
