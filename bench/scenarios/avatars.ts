import { read } from "../bots/answers.ts";
import { defineScenario, oneOf } from "../scenario.ts";

interface Available {
  icons: { slug: string }[];
  palettes: { colors: string[]; bgs: string[] };
}

/** Icons of players, each drawn in the colours that its address names. */
export const scenario = defineScenario({
  about: "avatar icons drawn in colours",
  load: { shape: "poisson", perSecond: 150, seconds: 60 },
  besidesSeconds: 5,
  budgets: [
    "icon errors <= 0.1 %",
    "icon response p50 <= 10 ms",
    "icon response p99 <= 100 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const bots = Array.from({ length: run.share(64) }, () => run.bot());
    const path = "/v1/avatars/available";
    const { icons, palettes } = await run.bot().visitor.call<Available>("GET", path);
    return { url: run.url, bots, icons, palettes };
  },
  async arrive({ url, bots, icons, palettes }, { dueAt, random }) {
    const bot = oneOf(bots, random);
    const { slug } = oneOf(icons, random);
    const look = `color=${oneOf(palettes.colors, random)}&bg=${oneOf(palettes.bgs, random)}`;
    const address = `${url}/v1/avatars/icons/${slug}?${look}`;
    await bot.measure("icon", dueAt, async () => read(await bot.fetch(address)));
  },
});
