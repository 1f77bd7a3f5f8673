import { runningImport } from "../needs.ts";
import { defineScenario, oneOf } from "../scenario.ts";

interface Listed {
  entities: { id: string }[];
}
const numListed = 200;

/** Reads of the archive as its pages make them, while imports change one entity in fifty again and again. */
export const scenario = defineScenario({
  about: "lists, entities and histories of the archive beside a running import",
  load: { shape: "poisson", perSecond: 100, seconds: 60 },
  besidesSeconds: 7,
  needs: [runningImport],
  budgets: [
    "list errors <= 0.1 %",
    "list response p50 <= 25 ms",
    "entity errors <= 0.1 %",
    "entity response p50 <= 15 ms",
    "entity response p90 <= 100 ms",
    "history response p50 <= 25 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const bots = Array.from({ length: run.share(64) }, () => run.bot());
    const { visitor } = run.bot();
    const base = "/v1/codex";
    const { games } = await visitor.call<{ games: { slug: string }[] }>("GET", `${base}/games`);
    const game = `${base}/${(games.find(({ slug }) => slug === "bench") ?? oneOf(games, run.random)).slug}`;
    const { types } = await visitor.call<{ types: Record<string, number> }>(
      "GET",
      `${game}/manifest`,
    );
    const [largest] = Object.entries(types).toSorted(([, a], [, b]) => b - a);
    const list = `${game}/${largest?.[0] ?? ""}`;
    const { entities } = await visitor.call<Listed>("GET", `${list}?limit=${numListed}`);
    return { bots, game, list, entities };
  },
  async arrive({ bots, game, list, entities }, { dueAt, random }) {
    const bot = oneOf(bots, random);
    const get = (operation: string, path: string) =>
      bot.measure(operation, dueAt, () => bot.visitor.call("GET", path));
    const kind = random();
    const { id } = oneOf(entities, random);
    if (kind < 0.3) await get("list", `${list}?limit=${1 + Math.floor(random() * 100)}`);
    else if (kind < 0.5) await get("history", `${game}/${id}/history`);
    else await get("entity", `${game}/${id}`);
  },
});
