import { projectedGame } from "../needs.ts";
import { defineScenario, oneOf } from "../scenario.ts";

const filters = ["rarity=epic", "slot_type=head", "rarity=common&slot_type=feet", ""] as const;
/** Shares of the reads: lists, then the labels of all filters; the others read one item. */
const lists = 0.5;
const labels = 0.1;

/** The typed game data as a site of builds reads it: filtered lists, their labels, and single items. */
export const scenario = defineScenario({
  about: "lists, items and labels of the typed game data",
  load: { shape: "poisson", perSecond: 150, seconds: 60 },
  besidesSeconds: 25,
  needs: [projectedGame],
  budgets: [
    "list errors <= 0.1 %",
    "list response p90 <= 50 ms",
    "item errors <= 0.1 %",
    "item response p90 <= 50 ms",
    "labels response p50 <= 25 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const bots = Array.from({ length: run.share(64) }, () => run.bot());
    const path = "/v2/items?limit=200";
    const { rows } = await run.bot().visitor.call<{ rows: { id: string }[] }>("GET", path);
    return { bots, items: rows };
  },
  async arrive({ bots, items }, { dueAt, random }) {
    const bot = oneOf(bots, random);
    const read = (operation: string, path: string) =>
      bot.measure(operation, dueAt, () => bot.visitor.call("GET", `/v2/${path}`));
    const kind = random();
    if (kind < lists) await read("list", `items?limit=50&${oneOf(filters, random)}`);
    else if (kind < lists + labels) await read("labels", "facets?locale=en");
    else await read("item", `items/${oneOf(items, random).id}`);
  },
});
