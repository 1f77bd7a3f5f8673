import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { entity } from "../support/archive.ts";
import { openReader } from "../support/reader-page.ts";
import { app, browser, hostile, trap, load, read, startsReaderApp } from "./reader-app.ts";

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

const crowd = Array.from({ length: 60 }, (_, index) =>
  entity(`id.item.n${index}`, { data: { power: index + 10 } }),
);

const rows = (page: Page) => page.locator(".list tbody th").allInnerTexts();

describe("the reader pages in a real browser", () => {
  startsReaderApp();

  describe("of the archive", archive);
  describe("of patches", patches);
  describe("under hostile conditions", () => {
    it("reset their controls when left, because a browser may restore them", async (t) => {
      await read(t, "/codex/dungeon/patches/1.3", async (page) => {
        const compared = page.getByLabel("Compared with");
        const shown = await compared.inputValue();
        await compared.evaluate((select: HTMLSelectElement) =>
          addEventListener("pagehide", () => sessionStorage.setItem("left", select.value)),
        );
        await compared.selectOption({ label: "1.0" });
        await page.waitForURL(/from=1\.0\.0/);
        assert.equal(await page.evaluate(() => sessionStorage.getItem("left")), shown);
      });
    });

    it("show hostile names as text, on a phone too, and fit its width", async (t) => {
      for (const path of ["item?q=img", "id.item.trap", "patches/1.1"])
        await read(t, `/codex/dungeon/${path}`, async (page) => {
          await page.setViewportSize({ width: 360, height: 740 });
          await page.getByText(hostile).first().waitFor();
          assert.equal(await page.locator("main img[src=x], main script").count(), 0);
          assert.match(await page.title(), /emberline$/);
          const overflow = "document.documentElement.scrollWidth - innerWidth";
          assert.ok(Number(await page.evaluate(overflow)) <= 0, `${path} is wider than a phone`);
        });
    });

    it("show even the smallest differences, and links that do not fit into one answer", async (t) => {
      const rate = (odds: number) => entity("id.item.rate", { name: "Rate", data: { odds } });
      const link = (rel: string, target: string) => ({ rel, target });
      const wide = entity("id.hub.wide", {
        links: Array.from({ length: 20 }, (_, at) => link(`way ${at}`, "id.big.one")),
      });
      const heavy = entity("id.hub.heavy", {
        name: "Heavy",
        links: Array.from({ length: 30 }, () => link("way", "id.big.one")),
      });
      const big = entity("id.big.one", { name: "Big", data: { text: "x".repeat(400_000) } });
      if (browser) {
        await load({ game: "edges", version: "1.0", entities: [rate(0.123411), big, heavy] });
        await load({ game: "edges", version: "1.1", entities: [rate(0.123412), big, heavy, wide] });
        await load({ game: "edges", version: "1.2", entities: [rate(0.123412), big] });
      }
      await read(t, "/codex/edges/id.item.rate", async (page) => {
        const difference = page.locator(".diff tr").filter({ hasText: "odds" });
        assert.match(await difference.innerText(), /0\.123411\s*→\s*0\.123412/);
      });
      await read(t, "/codex/edges/id.hub.wide?at=1.1", async (page) => {
        assert.equal(await page.locator(".link-list a").count(), 20);
      });
      if (!browser) return;
      const { page, close } = await openReader(
        browser,
        app.url,
        "/codex/edges/id.hub.heavy?at=1.1",
      );
      await page.getByRole("heading", { name: "Heavy", exact: true }).waitFor();
      assert.equal(await page.locator(".link-list a").count(), 30);
      await page.goto(`${app.url}/codex/edges/patches/1.2?type=hub`);
      await page.getByRole("heading", { name: "2 removed" }).waitFor();
      assert.equal(await page.getByLabel("Type").inputValue(), "hub");
      await close();
    });

    it("report what could not be read, and continue by keyboard", async (t) => {
      if (!browser) return t.skip("no browser on this machine");
      const { page, close } = await openReader(browser, app.url, "/codex/dungeon/item");
      const lists = "**/v1/codex/dungeon/item?**";
      const failure = page.getByText("This did not work just now");
      await page.route(lists, (route) => route.abort());
      await page.getByRole("button", { name: "Show more" }).press("Enter");
      await failure.waitFor();
      await page.unroute(lists);
      await page.keyboard.press("Enter");
      await page.getByText("62 of 62").waitFor();
      assert.equal(await failure.count(), 0);
      await page.route(lists, (route) => route.fulfill({ status: 503, body: "{}" }));
      await page.getByRole("searchbox").fill("torch");
      await failure.waitFor();
      assert.equal(await page.locator(".results").getAttribute("aria-busy"), null);
      await page.unroute(lists);
      await page.getByRole("searchbox").fill("torc");
      await page.getByText("1 entry").waitFor();
      await close();
    });
  });
});

function archive(): void {
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

  it("lead from the games to a type, its filters and an entity", async (t) => {
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

  it("report an invalid filter, and a filter without matches", async (t) => {
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

  it("say without scripts that they need them, and do not seem to load", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${app.url}/codex/dungeon`);
    const shown = await page.locator("body").innerText();
    assert.match(shown, /This page needs scripts/);
    assert.doesNotMatch(shown, /Loading/);
    await context.close();
  });

  it("keep every filter of the address, even two on one field", async (t) => {
    const path = "/codex/dungeon/item?filter[tags]=light&filter[tags]=";
    await read(t, `${path}bright&filter[tags]=light`, (page) =>
      page.getByText("Nothing fits").waitFor(),
    );
    await read(t, path.slice(0, path.indexOf("&")), async (page) => {
      await page.getByLabel("Value").fill("bright");
      await page.keyboard.press("Enter");
      await page.getByText("Nothing fits").waitFor();
      await page.getByRole("button", { name: "Remove: Tags is light" }).waitFor();
      assert.equal(new URL(page.url()).searchParams.getAll("filter[tags]").length, 2);
    });
  });
}

function patches(): void {
  it("move through the patches of an entity by keyboard", async (t) => {
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

  it("report an unknown patch in the address", async (t) => {
    await read(t, "/codex/dungeon/id.item.torch?at=9.9&with=8", async (page) => {
      const at = page.getByText("This branch has no patch 9.9. What you see is the newest state.");
      const other = page.getByText("This branch has no patch 8.");
      await at.waitFor();
      await other.waitFor();
      await page.getByRole("slider", { name: "Patch" }).press("Home");
      await page.getByText("Patch 1.0", { exact: true }).waitFor();
      assert.deepEqual([await at.count(), await other.count()], [0, 0]);
    });
    await read(t, "/codex/dungeon/id.item.trap?at=1.0", (page) =>
      page.getByText("This entry is not there yet in patch 1.0.").waitFor(),
    );
  });

  it("report a missing entry for any text in the address", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const lost = [
      ["/codex/%ff", "There is no such game"],
      ["/codex/dungeon/id.%ff", "Nothing by this name"],
      ["/codex/dungeon/changelog", "There is no such type"],
      ["/codex/dungeon/diff?from=1.0&to=1.1", "There is no such type"],
      ["/codex/dungeon/manifest", "There is no such type"],
      ["/data/%ff", "There is no such list"],
    ] as const;
    for (const [path, text] of lost) {
      const { page, close } = await openReader(browser, app.url, path);
      await page.getByText(text).waitFor();
      await close();
    }
  });

  it("render the notes of a patch, and compare it with another patch", async (t) => {
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
}
