import { groupBy } from "./group-by.ts";
import type { Quest } from "../generated/answers.ts";
import { el } from "../dom.ts";
import type { RowList } from "./data-documents.ts";
import { rarityNode, type NamingContext } from "./data-names.ts";
import type { Place } from "./data-place.ts";
import { counted, isEntityId, nameOfId, readable } from "./words.ts";

/** Quests per request, and maximum number of requests to find a chain. */
const pageSize = 200;
const maxPages = 6;
/** Maximum number of quests shown of a chain. */
const maxChain = 60;

type Goal = Quest["objectives"][number];
type Gain = Quest["rewards"][number]["entries"][number];

/** A quest of a chain; its depth increases where several follow one. */
interface Link {
  quest: Quest;
  depth: number;
}

/** The chain of quests around one, in order. At most one leads to a quest; several may follow it. */
export async function readChain(place: Place, row: Quest): Promise<readonly Link[]> {
  // Lists show the current state; a quest of an older patch is shown alone.
  if (place.patch !== undefined) return [{ quest: row, depth: 0 }];
  const all = await readQuests(place);
  const byId = new Map([...all, row].map((quest) => [quest.id, quest]));
  const before = ({ chapter_id: id }: Quest) => (id === null ? undefined : byId.get(id));
  let first = row;
  const seen = new Set([row.id]);
  for (let next = before(row); next && !seen.has(next.id); next = before(next)) {
    first = next;
    seen.add(next.id);
  }
  const followers = groupBy([...byId.values()], (quest) => quest.chapter_id);
  const chain: Link[] = [];
  const visited = new Set<string>();
  const visit = (quest: Quest, depth: number) => {
    if (chain.length >= maxChain || visited.has(quest.id)) return;
    visited.add(quest.id);
    chain.push({ quest, depth });
    const next = [...(followers.get(quest.id) ?? [])].sort(
      (a, b) => (a.order ?? 0) - (b.order ?? 0),
    );
    for (const one of next) visit(one, next.length > 1 ? depth + 1 : depth);
  };
  visit(first, 0);
  return chain.some(({ quest }) => quest.id === row.id) ? chain : [{ quest: row, depth: 0 }];
}

async function readQuests(place: Place): Promise<Quest[]> {
  const quests: Quest[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < maxPages && cursor !== null; page++) {
    const asked = { limit: pageSize, cursor };
    const { rows, next }: RowList<Quest> = await place.ask("quests", asked);
    quests.push(...rows);
    cursor = next;
  }
  return quests;
}

export function chainCards(
  place: Place,
  chain: readonly Link[],
  row: Quest,
  context: NamingContext,
): HTMLElement[] {
  const at = chain.findIndex(({ quest }) => quest.id === row.id);
  const own = el(
    "section",
    { class: "card" },
    questBody(row, context),
    row.completion_text ? el("p", { class: "prose flavor" }, row.completion_text) : null,
  );
  if (chain.length === 1) return [own];
  const steps = chain.map(({ quest, depth }, index) => {
    const isHere = index === at;
    const title = quest.title ?? nameOfId(quest.id);
    const item = el(
      "li",
      {
        class: isHere ? "here" : index < at ? "before" : "",
        "aria-current": isHere ? "step" : null,
      },
      isHere ? el("strong", {}, title) : el("a", { href: place.addressOf(quest.id) }, title),
      isHere
        ? el("span", { class: "quiet" }, summaryOf(quest))
        : el("details", {}, el("summary", {}, summaryOf(quest)), questBody(quest, context)),
    );
    item.style.setProperty("--depth", String(Math.min(depth, 4)));
    return item;
  });
  const title = el(
    "h2",
    {},
    "Chain ",
    el("small", { class: "quiet" }, `${at + 1} of ${chain.length}`),
  );
  return [
    own,
    el("section", { class: "card" }, title, el("ol", { class: "plain chain" }, ...steps)),
  ];
}

function summaryOf({ objectives, rewards }: Quest): string {
  const gains = rewards.flatMap(({ entries }) => entries).length;
  return `${counted(objectives.length, "objective")}, ${counted(gains, "reward")}`;
}

function questBody(quest: Quest, context: NamingContext): HTMLElement[] {
  const goals = quest.objectives.map((one) => goalNode(one, context));
  const gains = quest.rewards
    .flatMap(({ entries }) => entries)
    .filter(({ type }) => type !== "none" && type !== "stash")
    .map((entry) => gainNode(entry, context));
  const list = (title: string, nodes: Node[]) => [
    el("h3", {}, title),
    nodes.length === 0
      ? el("p", { class: "none" }, "none")
      : el("ul", { class: "goals" }, ...nodes),
  ];
  return [...list("Objectives", goals), ...list("Rewards", gains)];
}

/** `Kill 5 × Living armor in Crypts`. */
function goalNode(goal: Goal, context: NamingContext): HTMLElement {
  const {
    content_type: type,
    content_count: times,
    target_archetype: family,
    target_tag: tag,
    rarity,
  } = goal;
  const target = family
    ? familyLink(family, context)
    : readable((tag ?? goal.item_type ?? "").split(".").at(-1) ?? "");
  const places = goal.dungeon_tags.map((one) =>
    isEntityId(one) ? nameOfId(one) : readable(one.split(".").at(-1) ?? one),
  );
  return el(
    "li",
    {},
    el("span", {}, `${readable(type ?? "do")} `),
    el("strong", {}, times !== null && times > 1 ? `${times} × ` : ""),
    rarity ? [rarityNode(rarity, context), " "] : null,
    target,
    places.length > 0 ? el("span", { class: "quiet" }, ` in ${places.join(", ")}`) : null,
  );
}

/** A family has several members, so it links to their list. */
function familyLink(id: string, { pageOf }: NamingContext): HTMLElement {
  const lists: Readonly<Record<string, string>> = { item: "items", monster: "monsters" };
  const list = lists[id.split(".")[1] ?? ""];
  const name = nameOfId(id);
  return list ? el("a", { href: pageOf(list, { archetype: id }) }, name) : el("span", {}, name);
}

function gainNode(
  { type, count: times, ...references }: Gain,
  context: NamingContext,
): HTMLElement {
  const id = Object.values(references).find(isEntityId);
  const amount = el("strong", {}, `${times} × `);
  const what = readable(type ?? "");
  if (id === undefined) return el("li", {}, amount, what);
  const name = context.nameOf(id) ?? nameOfId(id);
  return el(
    "li",
    {},
    amount,
    el("a", { href: context.addressOf(id) }, name),
    type === "item" ? null : el("span", { class: "quiet" }, ` ${what.toLowerCase()}`),
  );
}
