import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page, Route } from "playwright-core";
import { Emberline, type SeatKey } from "../../server/web/client/emberline.ts";
import {
  atQuestion,
  createGame,
  joinByCode,
  playPage,
  revealed,
  startTogether,
  type Guest,
} from "../support/play-page.ts";

const { serve, withOne, withTwo, running } = playPage({
  env: { RATE_LIMIT_FACTOR: "0", LOBBY_MIN_QUESTION_MS: "0" },
  isOwn: (problem) => !problem.startsWith("Failed to load resource"),
});

describe("the play page in bad conditions", () => {
  serve();
  describe("keeps seats", () => {
    it("returns the seat to a player who closed the tab, by the same link and name", async (t) => {
      await withTwo(t, async (host, friend) => {
        await startTogether(host, friend, "versus");
        const code = await friend.page.evaluate(
          () => JSON.parse(sessionStorage.getItem("emberline.seat") ?? "{}").code as string,
        );
        await friend.page.close();
        friend.page = await friend.context.newPage();
        await friend.page.goto(`${running().url}/play#${code}`);
        await friend.page.getByLabel("Your name").fill("Grace");
        await friend.page.getByRole("button", { name: "Join", exact: true }).click();
        await atQuestion(friend, 1);
        await friend.page.keyboard.press("1");
        await host.page.keyboard.press("1");
        await Promise.all([revealed(host), revealed(friend)]);
        const lobby = await new Emberline({ url: running().url }).lobby(code);
        assert.deepEqual(lobby.players.map(({ name }) => name).sort(), ["Ada", "Grace"]);
      });
    });

    it("offers a host whose tab was closed the game again, until it is over", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Ada", mode: "versus", questions: 1 });
        await joinByCode(friend, "Grace", code);
        const offer = () =>
          host.page.getByRole("button", { name: `Come back to the game ${code}` });
        const openStartPage = async () => {
          await host.page.close();
          host.page = await host.context.newPage();
          await host.page.goto(`${running().url}/play`);
        };
        await openStartPage();
        await host.page.getByText("You host it as").waitFor();
        await offer().click();
        await host.page.getByText("Ada (you)").waitFor();
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await Promise.all([atQuestion(host, 1), atQuestion(friend, 1)]);
        await openStartPage();
        await offer().click();
        await atQuestion(host, 1);
        const seats = () => localStorage.getItem("emberline.seats") ?? "";
        const [{ key }] = JSON.parse(await host.page.evaluate(seats)) as [{ key: SeatKey }];
        await new Emberline({ url: running().url }).seat(key).end();
        await openStartPage();
        await host.page.getByRole("heading", { name: "Start a game" }).waitFor();
        await host.page.waitForFunction(() => localStorage.getItem("emberline.seats") === "[]");
        assert.equal(await offer().count(), 0);
      });
    });

    it("keeps the seat while something else answers in place of the service, in the game and after a reload", async (t) => {
      await withTwo(t, async (host, friend) => {
        await startTogether(host, friend, "versus");
        const { page } = friend;
        const lost = page.getByText("Connection lost");
        const failures = [
          () => page.reload(),
          () => page.evaluate(() => window.dispatchEvent(new Event("online"))),
        ];
        for (const failure of failures) {
          await page.route(seatPaths, answerFromElsewhere);
          const isAsked = numOf(4, page, "/status");
          await failure();
          await isAsked;
          await lost.waitFor();
          await page.unroute(seatPaths, answerFromElsewhere);
          await atQuestion(friend, 1);
          await lost.waitFor({ state: "hidden" });
        }
        await Promise.all([host, friend].map((guest) => guest.page.keyboard.press("1")));
        await Promise.all([revealed(host), revealed(friend)]);
      });
    });

    it("finds the seat of a join whose answer was lost, on retry and after a reload", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Ada", mode: "versus", questions: 1 });
        const { page } = friend;
        const join = page.getByRole("button", { name: "Join", exact: true });
        await page.getByLabel("Your name").fill("Grace");
        for (const again of [() => join.click(), () => page.reload()]) {
          await page.route("**/status", cut);
          await page.getByLabel("Code", { exact: true }).fill(code);
          await join.click();
          await page.getByText("The service cannot be reached.").waitFor();
          await page.unroute("**/status", cut);
          await again();
          await page.getByText("Grace (you)").waitFor();
          const { players } = await new Emberline({ url: running().url }).lobby(code);
          assert.deepEqual(players.map(({ name }) => name).sort(), ["Ada", "Grace"]);
          await page.getByRole("button", { name: "Leave" }).click();
        }
      });
    });

    it("lets a removed player join under the same name when the answer to the first join was lost", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "Ada", mode: "versus", questions: 1 });
        const { page } = friend;
        await page.route("**/status", cut);
        await page.getByLabel("Your name").fill("Grace");
        await page.getByLabel("Code", { exact: true }).fill(code);
        await page.getByRole("button", { name: "Join", exact: true }).click();
        await page.getByText("The service cannot be reached.").waitFor();
        await page.unroute("**/status", cut);
        await host.page.getByRole("button", { name: "Remove Grace" }).click();
        await page.reload();
        await page.getByText("You are no longer in this game.").waitFor();
        await joinByCode(friend, "Grace", code);
        await page.getByText("Grace (you)").waitFor();
      });
    });

    it("asks a seated player before a link to watch takes the seat", async (t) => {
      await withOne(t, async (host) => {
        const { page } = host;
        const code = await createGame(host, {
          name: "Mary",
          mode: "coop",
          questions: 1,
          isPublic: true,
        });
        const link = `${running().url}/play#watch=${code}`;
        const waiting = page.getByRole("heading", { name: "Waiting for players" });
        page.once("dialog", (dialog) => void dialog.dismiss());
        await page.goto(link);
        await page.waitForURL(`${running().url}/play`);
        await waiting.waitFor();
        page.once("dialog", (dialog) => void dialog.accept());
        await page.goto(link);
        await page.getByText("You are watching.").waitFor();
      });
    });
  });
  describe("lets games be watched", () => {
    it("lets a game be watched after the first attempt was refused", async (t) => {
      await withTwo(t, async (host, { page }) => {
        const game = { name: "Lise", mode: "versus", questions: 1, isPublic: true } as const;
        const code = await createGame(host, game);
        await page.route("**/spectate", refuse);
        await page.goto(`${running().url}/play#watch=${code}`);
        await page.reload();
        await page.getByText("Not here.").waitFor();
        await page.unroute("**/spectate", refuse);
        await page.getByRole("link", { name: "Watch the game of Lise" }).click();
        await page.getByText("You are watching.").waitFor();
      });
    });

    it("lets a game be watched again after it was private for a while", async (t) => {
      await withTwo(t, async (host, { page }) => {
        await createGame(host, { name: "Emmy", mode: "versus", questions: 1, isPublic: true });
        const key = await host.page.evaluate(() => sessionStorage.getItem("emberline.seat"));
        const seat = new Emberline({ url: running().url }).seat(JSON.parse(key ?? "") as SeatKey);
        const link = page.getByRole("link", { name: "Watch the game of Emmy" });
        await link.click();
        await page.getByText("You are watching.").waitFor();
        await seat.settings({ visibility: "private" });
        await page.getByText("no longer").waitFor();
        await seat.settings({ visibility: "public" });
        await link.click();
        await page.getByText("You are watching.").waitFor();
      });
    });
  });
  describe("keeps choices", () => {
    it("works where the browser stores nothing for pages", async (t) => {
      await withTwo(t, async (host, friend) => {
        for (const { page } of [host, friend]) {
          await page.addInitScript(() => {
            // A method, because the page lacks the helper with which tsx names arrow functions.
            Object.defineProperty(window, "sessionStorage", {
              get() {
                throw new DOMException("Access is denied for this document.", "SecurityError");
              },
            });
          });
          await page.reload();
        }
        await startTogether(host, friend, "versus");
        await host.page.keyboard.press("1");
        await friend.page.keyboard.press("1");
        assert.equal(await revealed(host), await revealed(friend));
      });
    });

    it("counts the last pick, even if the pick before it had to be sent again", async (t) => {
      await withTwo(t, async (host, friend) => {
        await startTogether(host, friend, "coop");
        const lost = await hold(friend.page, "**/pick", () => friend.page.keyboard.press("1"));
        const isIn = numOf(2, friend.page, "/pick");
        await friend.page.keyboard.press("2");
        await lost.abort();
        await isIn;
        await host.page.getByRole("button", { name: "Lock in the answers" }).click();
        await revealed(friend);
        assert.equal(await chosen(friend), 1);
      });
    });

    it("shows the latest pick in both tabs of a seat", async (t) => {
      await withTwo(t, async (host, friend) => {
        await startTogether(host, friend, "coop");
        const tab = { ...friend, page: await friend.context.newPage() };
        const seat = await friend.page.evaluate(() => ({ ...sessionStorage }));
        await tab.page.addInitScript((kept) => Object.assign(sessionStorage, kept), seat);
        await tab.page.goto(`${running().url}/play`);
        await atQuestion(tab, 1);
        for (const [place, { page }] of [friend, tab, friend].entries()) {
          await page.keyboard.press(String(place + 1));
          for (const other of [friend, tab]) await choice(other, place).and(mine(other)).waitFor();
        }
        await tab.page.reload();
        await choice(tab, 2).and(mine(tab)).waitFor();
      });
    });

    it("shows a pick that was made after the page read the game and before its stream began", async (t) => {
      await withTwo(t, async (host, friend) => {
        const { page } = friend;
        await startTogether(host, friend, "coop");
        const stream = await hold(page, /\/hub\?topic=.*lobby%2F/, () => page.reload());
        await atQuestion(friend, 1);
        const isIn = numOf(1, host.page, "/pick");
        await host.page.keyboard.press("2");
        await isIn;
        await stream.continue();
        await choice(friend, 1).locator(".mark").getByText("Ada").waitFor();
        assert.ok(await page.locator("#reveal").isHidden(), "while the question is open");
      });
    });

    it("shows names in any script without changing the direction of the text beside them", async (t) => {
      await withTwo(t, async (host, friend) => {
        const code = await createGame(host, { name: "👩‍🚀 עדה", mode: "coop", questions: 1 });
        await joinByCode(friend, "عزرا", code);
        const badges = friend.page.locator("#waiting-players .badge");
        assert.deepEqual(await badges.allInnerTexts(), ["👩‍🚀", "ع"]);
        assert.ok(await readsForward(friend.page, "#waiting-players small"), "(you)");
        await host.page.getByRole("button", { name: "Start the game" }).click();
        await Promise.all([atQuestion(host, 1), atQuestion(friend, 1)]);
        for (const { page } of [host, friend]) await page.keyboard.press("1");
        await friend.page.locator("#choices .mark").first().getByText("עדה").waitFor();
      });
    });

    it("keeps a choice when the refusal of an earlier one arrives late", async (t) => {
      await withTwo(t, async (host, friend) => {
        await startTogether(host, friend, "versus", 2);
        const late = await hold(friend.page, "**/answer", () => friend.page.keyboard.press("1"));
        await host.page.getByRole("button", { name: "Skip this question" }).click();
        await atQuestion(friend, 2);
        await friend.page.keyboard.press("2");
        await host.page.locator("#playing-players").getByText("answered").waitFor();
        await late.continue();
        await friend.page.getByText("This question is closed.").waitFor();
        assert.equal(await chosen(friend), 1);
      });
    });
  });
});

/** The response of a load balancer without a backend. */
const answerFromElsewhere = (route: Route) =>
  route.fulfill({ status: 404, body: "404 page not found" });

const seatPaths = /\/(status|token|heartbeat|hub)(\?|$)/;
const cut = (route: Route) => route.abort();

/** The service's response for a lobby that no longer exists. */
const refuse = (route: Route) => route.fulfill({ status: 404, body: refusal });

const refusal = JSON.stringify({
  flash: { errors: [{ code: "lobby:not_found", message: "Not here." }] },
});

const choice = ({ page }: Guest, place: number) => page.locator("#choices button").nth(place);
const mine = ({ page }: Guest) => page.locator("#choices button.mine");

async function chosen(guest: Guest): Promise<number> {
  return guest.page
    .locator("#choices button")
    .evaluateAll((all) => all.findIndex((button) => button.classList.contains("mine")));
}

/**
 * Whether the first letter of "you" is left of its last one. Found and measured in one turn of the page,
 * which rebuilds its rows with every event.
 */
const readsForward = (page: Page, selector: string) =>
  page.evaluate((where) => {
    const node = document.querySelector(where);
    if (!node) throw new Error(`nothing is at ${where}`);
    const [first = 0, last = 0] = ["y", "u"].map((letter) => {
      const at = (node.textContent ?? "").indexOf(letter);
      const range = document.createRange();
      range.setStart(node.firstChild ?? node, at);
      range.setEnd(node.firstChild ?? node, at + 1);
      return range.getBoundingClientRect().left;
    });
    return first < last;
  }, selector);

/** Runs an action and holds the request that follows, until the test continues or fails it. */
async function hold(
  page: Page,
  address: string | RegExp,
  act: () => Promise<unknown>,
): Promise<Route> {
  const { promise, resolve } = Promise.withResolvers<Route>();
  await page.route(address, (route) => resolve(route), { times: 1 });
  await act();
  return promise;
}

/** Resolves after this many responses from an address. */
function numOf(count: number, page: Page, address: string): Promise<unknown> {
  let num = 0;
  return page.waitForResponse((response) => response.url().endsWith(address) && ++num === count);
}
