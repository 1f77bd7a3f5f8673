import assert from "node:assert/strict";
import { after, before, type TestContext } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { sharedBrowser } from "./browser.ts";
import { startService, type Service } from "./process.ts";

/** A person at the play page: reads what the page shows, and acts by clicks and keys. */
export interface Guest {
  page: Page;
  context: BrowserContext;
  /** Errors of scripts, of the console and of the content security policy, and requests to other sites. */
  problems: string[];
}

const stepLimitMs = 60_000;

/** A page reports that it is there when its stream opens; its seat may be gone before the report arrives. */
const isLateBeat = (text: string, source: string) =>
  source.endsWith("/heartbeat") && text.includes("status of 404");

/** Opens a window with its own cookies, like another person. */
export async function openWindow(
  browser: Browser,
  url: string,
  isOurs: (asked: string) => boolean = () => false,
): Promise<Guest> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(stepLimitMs);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    const { url: source } = message.location();
    if (message.type() === "error" && !isLateBeat(message.text(), source))
      problems.push(`${message.text()} ${source}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !isOurs(request.url()))
      problems.push(`asked ${request.url()}`);
  });
  await page.goto(`${url}/play`);
  return { page, context, problems };
}

/**
 * The visibility event of a tab when another one comes to the front; a headless browser treats all as
 * visible.
 */
export const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate((value) => {
    // A method, because the page lacks the helper with which tsx names arrow functions.
    Object.defineProperty(document, "hidden", {
      configurable: true,
      get() {
        return value;
      },
    });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

export interface NewGame {
  name: string;
  mode: "coop" | "versus";
  questions: number;
  isPublic?: boolean;
}

/** Fills in the form; returns the join code. */
export async function createGame({ page }: Guest, game: NewGame): Promise<string> {
  await page.getByLabel("Your name").fill(game.name);
  await page.getByRole("radio", { name: game.mode === "coop" ? "Co-op" : "Versus" }).check();
  await page.getByLabel("Questions").fill(String(game.questions));
  // A slow machine must not run out of time.
  await page.getByLabel("Time for each").selectOption("60");
  await page.getByLabel("Show it in the list").setChecked(game.isPublic ?? false);
  await page.getByRole("button", { name: "Create the game" }).click();
  await page.getByRole("heading", { name: "Waiting for players" }).waitFor();
  return (await page.locator("#big-code").innerText()).trim();
}

/** Returns when the page receives events: a player removed before that reads only that the seat is gone. */
export async function joinByCode({ page }: Guest, name: string, code: string): Promise<void> {
  const receives = page.waitForResponse(/\/heartbeat$/);
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Code", { exact: true }).fill(code);
  await page.getByRole("button", { name: "Join", exact: true }).click();
  await page.getByRole("heading", { name: "Waiting for players" }).waitFor();
  await receives;
}

/** Waits until the question with this number (from 1) is open. */
export async function atQuestion({ page }: Guest, number: number): Promise<void> {
  await page.getByText(`Question ${number} of`).waitFor();
  await page.locator("#reveal").waitFor({ state: "hidden" });
}

/** Two players at the first question. */
export async function startTogether(
  host: Guest,
  friend: Guest,
  mode: "coop" | "versus",
  questions = 1,
) {
  const code = await createGame(host, { name: "Ada", mode, questions });
  await joinByCode(friend, "Grace", code);
  await host.page.getByRole("button", { name: "Start the game" }).click();
  await Promise.all([atQuestion(host, 1), atQuestion(friend, 1)]);
}

/** The answers marked as correct, once the question is closed. */
export async function revealed({ page }: Guest): Promise<string> {
  await page.locator("#reveal").waitFor({ state: "visible" });
  return page.locator("#choices .right .choice-text").innerText();
}

/** Scores by name, from the final scoreboard. */
export async function scoreboard({ page }: Guest): Promise<Record<string, number>> {
  await page.locator("#view-finished").waitFor();
  const rows = await page.locator("#scoreboard li").all();
  const entries = rows.map(async (row) => {
    const name = (await row.locator(".player-name").innerText()).replace(" (you)", "");
    return [name, Number(await row.locator(".score").innerText())] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * A service and a browser for the tests of a suite; they are skipped if no browser is installed. `serve()` is called
 * inside its `describe`, whose hooks start and stop the service.
 */
export function playPage(options: {
  env: Record<string, string>;
  /** Whether a problem of the page fails the test; default: each one does. */
  isOwn?: (problem: string) => boolean;
  /** Additional origins that its page may send requests to. */
  isOurs?: (asked: string) => boolean;
}) {
  const { env, isOwn = () => true, isOurs } = options;
  let browser: Browser | null = null;
  let service: Service;
  const serve = () => {
    before(async () => {
      browser = await sharedBrowser();
      if (browser) service = await startService({ env, sharesPostgres: true });
    });
    after(async () => {
      if (browser) await service.stop();
    });
  };

  /** A person at a browser; any error in the browser fails the test. */
  async function withOne(t: TestContext, play: (guest: Guest) => Promise<void>) {
    if (!browser) return t.skip("no browser on this machine");
    const guest = await openWindow(browser, service.url, isOurs);
    try {
      await play(guest);
      assert.deepEqual(guest.problems.filter(isOwn), []);
    } finally {
      await guest.context.close();
    }
  }
  const withTwo = (t: TestContext, play: (host: Guest, friend: Guest) => Promise<void>) =>
    withOne(t, (host) => withOne(t, (friend) => play(host, friend)));
  return { serve, withOne, withTwo, running: () => service };
}
