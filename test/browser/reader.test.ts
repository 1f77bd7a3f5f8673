import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { projectionOf } from "../../db/projections/refresh.ts";
import type { SourceEntity } from "../../importers/contract.ts";
import { startApp, type App } from "../support/app.ts";
import { entity, load as loadInto, type EnvelopeInput } from "../support/archive.ts";
import { sharedBrowser } from "../support/browser.ts";
import { made, smallGame, smallTexts } from "../support/projected-game.ts";
import { openReader, shiftOf } from "../support/reader-page.ts";

const hostile = `<img src=x onerror="document.title='broken'">"'</td><script>`;
const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const torch = (power: number, rest = {}) =>
  entity("id.item.torch", {
    name: "Torch",
    tags: ["light"],
    data: { power, rarity: power > 1 ? "Type.Item.Rarity.Epic" : "Type.Item.Rarity.Poor" },
    links: [
      { rel: "drop", target: "id.monster.imp" },
      { rel: "drop", target: "id.monster.gone" },
    ],
    ...rest,
  });
const imp = entity("id.monster.imp", { name: "Imp", data: { hp: 5 } });
const trap = entity("id.item.trap", {
  name: hostile,
  tags: [hostile],
  data: { note: hostile, [hostile]: [hostile], power: 7 },
});
const crowd = Array.from({ length: 60 }, (_, index) =>
  entity(`id.item.n${index}`, { data: { power: index + 10 } }),
);

const changed = (entities: SourceEntity[]) =>
  entities.map((one) =>
    one.id === "id.item.frost_blade_5001"
      ? { ...one, data: { ...one.data, gear_score: 999 } }
      : one,
  );

describe("the pages for readers in a real browser", () => {
  let app: App;
  let browser: Browser | null = null;
  const load = (input: EnvelopeInput) =>
    loadInto(app, input, { project: projectionOf("gamedata") });

  before(async () => {
    browser = await sharedBrowser();
    if (browser) app = await startApp({ hasJobs: false });
  });
  after(async () => {
    if (browser) await app.stop();
  });

  /** One window; whatever goes wrong inside it, and whatever moves by itself, fails the test. */
  async function read(t: TestContext, path: string, look: (page: Page) => Promise<void>) {
    if (!browser) return t.skip("no browser on this machine");
    const { page, problems, close } = await openReader(browser, app.url, path);
    try {
      await look(page);
      assert.deepEqual(problems, []);
      assert.ok((await shiftOf(page)) < 0.02, "the page moved while it was shown");
    } finally {
      await close();
    }
  }
  const rows = (page: Page) => page.locator(".list tbody th").allInnerTexts();

  it("say that there is no data yet", async (t) => {
    await read(t, "/codex", (page) => page.getByText("There is no data yet").waitFor());
    if (!browser) return;
    const icon = { icon: "t.png", assets: [{ path: "t.png", role: "icon" as const }] };
    await load({ version: "1.0", entities: [torch(1), imp] });
    const files = { "t.png": dot };
    const assets = [{ path: "t.png", media_type: "image/png" }];
    const entities = [torch(2, icon), imp, trap, ...crowd];
    await load({ version: "1.1", entities, files, assets });
    await load({ version: "1.2", entities: [imp, trap, ...crowd] });
    await load({ version: "1.3", entities: [torch(3, icon), imp, trap, ...crowd], files, assets });
  });

  it("lead from the games over a type and its filters to an entity", async (t) => {
    await read(t, "/codex", async (page) => {
      await page.getByRole("link", { name: "DUNGEON" }).click();
      await page.getByRole("link", { name: "62 Items" }).click();
      await page.getByText("62 entries").waitFor();
      assert.equal((await rows(page)).length, 50);
      await page.getByRole("button", { name: "Show more" }).click();
      await page.getByText("62 of 62").waitFor();
      assert.equal(new Set(await rows(page)).size, 62);
      await page.getByLabel("Field").selectOption("data.power");
      await page.getByLabel("Is", { exact: true }).selectOption("lte");
      await page.getByLabel("Value").fill("7");
      await page.keyboard.press("Enter");
      await page.getByText("2 entries").waitFor();
      assert.equal(new URL(page.url()).search, "?filter%5Bdata.power%5D%3Alte=7");
      await page.getByRole("heading", { name: "Items" }).click();
      await page.keyboard.press("/");
      await page.keyboard.type("tor");
      await page.getByText("1 entry").waitFor();
      await page.reload();
      assert.deepEqual(await rows(page), ["Torch"]);
      await page.getByRole("button", { name: "Remove: Power ≤ 7" }).click();
      await page.goBack();
      await page.getByRole("button", { name: "Remove: Power ≤ 7" }).waitFor();
      await page.getByRole("link", { name: "Torch" }).click();
      await page.getByRole("heading", { name: "Torch", exact: true }).waitFor();
    });
  });

  it("show what a wrong filter is, and that nothing fits", async (t) => {
    await read(t, "/codex/dungeon/item?filter[data.power]=many", async (page) => {
      await page.getByText("Nothing fits").waitFor();
    });
    if (!browser) return;
    const { page, close } = await openReader(
      browser,
      app.url,
      "/codex/dungeon/item?filter[data.power]:gt=many",
    );
    await page.getByText("Less and greater need a number.").waitFor();
    await page.goto(`${app.url}/codex/dungeon/id.item.nowhere`);
    await page.getByText("Nothing by this name").waitFor();
    await close();
  });

  it("move an entity through its patches by the keyboard", async (t) => {
    await read(t, "/codex/dungeon/id.item.torch", async (page) => {
      const power = page.getByRole("row", { name: /^Power \d$/ });
      const field = (name: string) => page.locator(".diff tr").filter({ hasText: name });
      const slider = page.getByRole("slider", { name: "Patch" });
      await page.getByText("It was not there in 1.2.").waitFor();
      await page.getByLabel("Compared with").selectOption({ label: "1.1" });
      assert.match(await field("power").innerText(), /2\s*→\s*3/);
      await slider.press("ArrowLeft");
      await page.getByText("It is not in the game as of patch 1.2.").waitFor();
      await slider.press("ArrowLeft");
      await page.getByText("Patch 1.1", { exact: true }).waitFor();
      await field("icon").first().waitFor();
      assert.match(await field("rarity").innerText(), /Poor\s*→\s*Epic/);
      assert.equal(await power.innerText(), "Power\t2");
      assert.match(page.url(), /\?at=1\.1\.0%2Bbuild\.0$/);
      await slider.press("Home");
      await page.getByText("Patch 1.0", { exact: true }).waitFor();
      await page.reload();
      assert.equal(await slider.getAttribute("aria-valuetext"), "1.0, Jan 1, 2026, first seen");
      await page.getByRole("link", { name: "Imp" }).click();
      await page.getByRole("heading", { name: "Imp", exact: true }).waitFor();
    });
  });

  it("render the notes of a patch, and compare it with another", async (t) => {
    await read(t, "/codex/dungeon/patches", async (page) => {
      await page.getByRole("link", { name: "1.1", exact: true }).click();
      await page.getByRole("heading", { name: "61 new" }).waitFor();
      const entry = page.locator(".entry").filter({ hasText: "Torch" });
      assert.match(await entry.innerText(), /power\s*1\s*→\s*2/);
      await page.getByRole("link", { name: "1.2 →" }).click();
      await page.locator(".removed").getByRole("link", { name: "Torch" }).waitFor();
      await page.getByRole("link", { name: "1.3 →" }).click();
      await page.getByLabel("Compared with").selectOption({ label: "1.0" });
      await page.waitForURL(/from=1\.0\.0/);
      assert.match(await entry.innerText(), /power\s*1\s*→\s*3/);
      await page.getByLabel("Type").selectOption("monster");
      await page.getByRole("heading", { name: "Nothing changed" }).waitFor();
    });
  });

  it("show hostile names as text, also on a phone, and fit its width", async (t) => {
    for (const path of ["item?q=img", "id.item.trap", "patches/1.1"])
      await read(t, `/codex/dungeon/${path}`, async (page) => {
        await page.setViewportSize({ width: 360, height: 740 });
        await page.getByText(hostile).first().waitFor();
        assert.equal(await page.locator("main img[src=x], main script").count(), 0);
        assert.match(await page.title(), /emberline$/);
        const surplus = "document.documentElement.scrollWidth - innerWidth";
        assert.ok(Number(await page.evaluate(surplus)) <= 0, `${path} is wider than a phone`);
      });
  });

  it("browse the projected game by facets, in another language and as of a patch", async (t) => {
    await read(t, "/data", (page) => page.getByText("There is no data yet").waitFor());
    if (!browser) return;
    const game = { game: "gamedata", locales: smallTexts() };
    const trap = made("item", "trap", { name: "Trap" }, { name: hostile });
    const locales = { ...smallTexts(), en: { ...smallTexts()["en"], Trap: hostile } };
    await load({ ...game, version: "0.1", entities: smallGame() });
    await load({ ...game, locales, version: "0.2", entities: [...changed(smallGame()), trap] });
    await read(t, "/data", async (page) => {
      await page.getByRole("link", { name: "5 Items" }).click();
      await page.getByText("5 entries").waitFor();
      await page.getByText(hostile).waitFor();
      await page.getByLabel("Leather").check();
      await page.getByText("1 entry").waitFor();
      assert.match(page.url(), /\?armor_type=leather$/);
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByLabel("Gear score, min").fill("100");
      await page.getByText("2 entries").waitFor();
      await page.reload();
      await page.getByText("2 entries").waitFor();
      await page.getByRole("link", { name: "Blade of Kuma's Frost" }).first().click();
      const speed = page.getByRole("row", { name: /^Move speed mod/ });
      assert.match(await speed.innerText(), /0\.7 – 2\.9\s+0\.1 – 5\.7/);
      await page.getByRole("row", { name: "Gear score 999" }).waitFor();
      await page.getByLabel("As of patch").selectOption({ label: "0.1" });
      await page.getByRole("row", { name: "Gear score 500" }).waitFor();
      await page.getByLabel("Language").selectOption("de");
      await page.waitForURL(/locale=de/);
      await page.getByRole("row", { name: "Gear score 500" }).waitFor();
    });
  });

  it("show a chain of quests and what a monster drops", async (t) => {
    await read(t, "/data/quests", async (page) => {
      await page.locator(".list tbody a.named").first().click();
      await page.getByRole("heading", { name: "Objectives" }).waitFor();
      await page.getByRole("heading", { name: /^Chain/ }).waitFor();
      const steps = await page.locator(".chain > li").count();
      assert.ok(steps >= 2, `${steps} steps`);
    });
    await read(t, "/data/monsters", async (page) => {
      await page.locator(".list tbody a.named").first().click();
      await page.getByRole("heading", { name: "Damage reductions" }).waitFor();
      await page.locator(".loot").first().waitFor();
    });
  });
});
