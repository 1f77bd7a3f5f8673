import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  atQuestion,
  createGame,
  joinByCode,
  playPage,
  revealed,
  scoreboard,
  type Guest,
} from "../support/play-page.ts";

describe("the play page in a real browser", () => {
  const { serve, withTwo } = playPage({
    // A job generates questions that are not stored yet.
    env: { RATE_LIMIT_FACTOR: "0" },
  });
  serve();

  it("lets two people play a versus game to the end", async (t) => {
    await withTwo(t, async (host, friend) => {
      const code = await createGame(host, { name: "Ada", mode: "versus", questions: 3 });
      await joinByCode(friend, "Grace <b>", code);
      await host.page.locator("#waiting-players").getByText("Grace <b>").waitFor();
      await host.page.getByRole("button", { name: "Start the game" }).click();
      const gained: [number, number] = [0, 0];
      for (const number of [1, 2, 3]) {
        await Promise.all([atQuestion(host, number), atQuestion(friend, number)]);
        if (number === 1) assert.deepEqual(await touchActions(host), ["manipulation"]);
        await host.page.keyboard.press("1");
        await friend.page.locator("#playing-players").getByText("answered").waitFor();
        await friend.page.keyboard.press("3");
        assert.equal(await revealed(host), await revealed(friend));
        gained[0] += await ownPoints(host);
        gained[1] += await ownPoints(friend);
        const label = number === 3 ? "Show the result" : "Next question";
        await host.page.getByRole("button", { name: label }).click();
      }
      const expected = { Ada: gained[0], "Grace <b>": gained[1] };
      assert.deepEqual(await scoreboard(host), expected);
      assert.deepEqual(await scoreboard(friend), expected);
    });
  });
});

/** How the answer buttons react to touch: with `manipulation` two quick taps do not zoom. */
const touchActions = ({ page }: Guest) =>
  page
    .locator(".choices button")
    .evaluateAll((buttons) => [
      ...new Set(buttons.map((one) => getComputedStyle(one).touchAction)),
    ]);

/** Points of the question just revealed. */
async function ownPoints({ page }: Guest): Promise<number> {
  const verdict = await page.locator("#verdict").innerText();
  return Number(/\+(\d+)/.exec(verdict)?.[1] ?? 0);
}
