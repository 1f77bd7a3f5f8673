import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { projectionOf } from "../../../../db/projections/refresh.ts";
import { startApp, type App } from "../../../support/app.ts";
import { load } from "../../../support/archive.ts";
import { made } from "../../../support/projected-game.ts";

type Body = Record<string, unknown>;

/** The text of the quest's title, and of a label, in languages that differ in their region only. */
const texts = {
  en: "Colour of Ash",
  "en-US": "Color of Ash",
  pt: "Cor do Facto",
  "pt-BR": "Cor do Fato",
  zh: "灰之色",
  "zh-Hans": "灰的颜色",
  "de-AT": "Farbe der Asche",
};

describe("texts in a language and in its regions", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
    const locales = Object.fromEntries(
      Object.entries(texts).map(([locale, text]) => [
        locale,
        { Title: text, "Label.spawner_type.empty": text },
      ]),
    );
    const entities = [made("quest", "ash", { title_text: "Title" }), made("spawner", "none", {})];
    const patch = { game: "gamedata", version: "1.0", entities, locales };
    await load(app, patch, { project: projectionOf("gamedata") });
  });
  after(() => app.stop());

  const read = async (path: string) => {
    const answer = await app.client.get(`/v2${path}`);
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    return answer.body as Body;
  };
  const count = async (locale: string, name: string) =>
    (await read(`/quests?locale=${locale}&name=${encodeURIComponent(name)}`))["count"];

  it("are those of the requested tag, in rows, filters, facets and former patches", async () => {
    for (const [locale, text] of [
      ...Object.entries(texts),
      ["", texts.en],
      ["EN", texts.en],
      ["en-GB", texts.en],
      ["zh-TW", texts.zh],
      ["zh-CN", texts["zh-Hans"]],
      ["de-CH", texts.en],
    ] as const) {
      const query = `locale=${locale}`;
      for (const path of [`?${query}`, `?at_patch=1.0&${query}`])
        assert.equal((await read(`/quest/id.quest.ash${path}`))["title"], text, path);
      const facets = (await read(`/facets?${query}`)) as Record<string, Body>;
      assert.equal(facets["spawner_type"]?.["empty"], text, locale);
      assert.equal(await count(locale, text), 1, locale);
    }
    assert.equal(await count("en", "Color"), 0, "the text of another region is not searched");
  });
});
