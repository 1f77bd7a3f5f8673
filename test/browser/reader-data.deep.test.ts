import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SourceEntity } from "../../importers/envelope/contract.ts";
import { made, smallGame, smallTexts } from "../support/projected-game.ts";
import { browser, hostile, load, read, startsReaderApp } from "./reader-app.ts";

const changed = (entities: SourceEntity[]) =>
  entities.map((one) =>
    one.id === "id.item.frost_blade_5001"
      ? { ...one, data: { ...one.data, gear_score: 999 } }
      : one,
  );

describe("the reader pages of the projected game", () => {
  startsReaderApp();

  describe("of the projected game", () => {
    it("browse the projected game by facets, in another language and at a patch", async (t) => {
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

    it("name the selected patch and language, and order the facets", async (t) => {
      const path = "/data/items/id.item.frost_blade_5001?at_patch=0.1.0+build.0&locale=PT-br";
      await read(t, path, async (page) => {
        await page.getByRole("row", { name: "Gear score 500" }).waitFor();
        const chosen = (label: string) => page.getByLabel(label).locator("option:checked");
        assert.equal(await chosen("As of patch").innerText(), "0.1");
        assert.equal(await chosen("Language").innerText(), "Brazilian Portuguese");
      });
      const grades = ["Common", "Elite", "Nightmare"];
      const beasts = grades.map((grade) =>
        made("monster", `wraith_${grade.toLowerCase()}`, {
          grade_type: `Type.Monster.Grade.${grade}`,
        }),
      );
      const locales = smallTexts();
      if (browser)
        await load({
          game: "gamedata",
          locales,
          version: "0.3",
          entities: [...smallGame(), ...beasts],
        });
      await read(t, "/data/monsters", async (page) => {
        const facet = page.getByRole("group", { name: "Grade type" });
        assert.deepEqual(await facet.locator("label").allInnerTexts(), grades);
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
      await read(t, "/data/quests/id.quest.smith_01?locale=de", async (page) => {
        await page.getByRole("link", { name: "Living armor" }).first().click();
        await page.waitForURL(/archetype=id\.monster\.living_armor&locale=de$/);
      });
      await read(t, "/data/monsters", async (page) => {
        await page.locator(".list tbody a.named").first().click();
        await page.getByRole("heading", { name: "Damage reductions" }).waitFor();
        await page.locator(".loot").first().waitFor();
      });
    });
  });
});
