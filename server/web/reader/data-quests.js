import { make } from "./page.js";
import { counted, isEntityId, nameOfId, readable } from "./words.js";

/** Quests of one page of the list, and pages that are read to find a chain. */
const pageSize = 200;
const maxPages = 6;
/** Quests of a chain that are shown. */
const maxChain = 60;

/** @typedef {import("./data-place.js").Place} Place @typedef {{ quest: any, depth: number }} Link */

/**
 * The quests before and after one, in the order they are done; null for what is no quest. Before it there is one
 * way at most; after it several may open.
 * @param {Place} place @param {import("./data-resources.js").Resource} resource @param {any} row @returns {Promise<Link[] | null>}
 */
export async function readChain(place, { type }, row) {
  if (type !== "quest") return null;
  // Lists are of the present; a quest of the past is shown alone.
  if (place.patch !== undefined) return [{ quest: row, depth: 0 }];
  const all = await readQuests(place);
  const byId = new Map([...all, row].map((quest) => [quest.id, quest]));
  let first = row;
  for (
    const seen = new Set([row.id]);
    byId.has(first.chapter_id) && !seen.has(first.chapter_id);
    seen.add(first.id)
  )
    first = byId.get(first.chapter_id);
  const followers = Map.groupBy([...byId.values()], (quest) => quest.chapter_id);
  /** @type {Link[]} */
  const chain = [];
  const visited = new Set();
  const visit = (/** @type {any} */ quest, /** @type {number} */ depth) => {
    if (chain.length >= maxChain || visited.has(quest.id)) return;
    visited.add(quest.id);
    chain.push({ quest, depth });
    const next = (followers.get(quest.id) ?? []).toSorted(
      (a, b) => (a.order ?? 0) - (b.order ?? 0),
    );
    for (const one of next) visit(one, next.length > 1 ? depth + 1 : depth);
  };
  visit(first, 0);
  return chain.some(({ quest }) => quest.id === row.id) ? chain : [{ quest: row, depth: 0 }];
}

/** @param {Place} place */
async function readQuests(place) {
  const quests = [];
  let cursor;
  for (let page = 0; page < maxPages && cursor !== null; page++) {
    const { rows, next } = await place.ask("quests", { limit: pageSize, cursor });
    quests.push(...rows);
    cursor = next;
  }
  return quests;
}

/** @param {Place} place @param {Link[]} chain @param {any} row @param {import("./data-names.js").Context} context */
export function chainCards(place, chain, row, context) {
  const at = chain.findIndex(({ quest }) => quest.id === row.id);
  const own = make(
    "section",
    { class: "card" },
    ...questBody(row, context),
    row.completion_text && make("p", { class: "prose flavor" }, row.completion_text),
  );
  if (chain.length === 1) return [own];
  const steps = chain.map(({ quest, depth }, index) => {
    const isHere = index === at;
    const title = quest.title ?? nameOfId(quest.id);
    const item = make(
      "li",
      { class: isHere ? "here" : index < at ? "before" : "", "aria-current": isHere && "step" },
      isHere ? make("strong", {}, title) : make("a", { href: place.addressOf(quest.id) }, title),
      isHere
        ? make("span", { class: "quiet" }, summaryOf(quest))
        : make("details", {}, make("summary", {}, summaryOf(quest)), ...questBody(quest, context)),
    );
    item.style.setProperty("--depth", String(Math.min(depth, 4)));
    return item;
  });
  const title = make(
    "h2",
    {},
    "Chain ",
    make("small", { class: "quiet" }, `${at + 1} of ${chain.length}`),
  );
  return [
    own,
    make("section", { class: "card" }, title, make("ol", { class: "plain chain" }, ...steps)),
  ];
}

/** @param {any} quest */
function summaryOf({ objectives, rewards }) {
  const gains = rewards.flatMap((/** @type {any} */ reward) => reward.entries).length;
  return `${counted(objectives.length, "objective")}, ${counted(gains, "reward")}`;
}

/** @param {any} quest @param {import("./data-names.js").Context} context */
function questBody(quest, context) {
  const goals = quest.objectives.map((/** @type {any} */ one) =>
    make("li", {}, ...goalOf(one, context)),
  );
  const gains = quest.rewards
    .flatMap((/** @type {any} */ reward) => reward.entries)
    .filter((/** @type {any} */ entry) => !["none", "stash"].includes(entry.type))
    .map((/** @type {any} */ entry) => make("li", {}, ...gainOf(entry, context)));
  const list = (/** @type {string} */ title, /** @type {Node[]} */ nodes) => [
    make("h3", {}, title),
    nodes.length === 0
      ? make("p", { class: "none" }, "none")
      : make("ul", { class: "goals" }, ...nodes),
  ];
  return [...list("Objectives", goals), ...list("Rewards", gains)];
}

/** `Kill 5 × Living armor in Crypts`. @param {any} goal @param {import("./data-names.js").Context} context */
function goalOf(goal, context) {
  const {
    content_type: type,
    content_count: times,
    target_archetype: family,
    target_tag: tag,
  } = goal;
  const rarity =
    goal.rarity &&
    make(
      "span",
      { class: `rarity rarity-${goal.rarity}` },
      context.labelOf("rarity", goal.rarity) ?? goal.rarity,
      " ",
    );
  const target = family
    ? familyLink(family, context)
    : readable((tag ?? goal.item_type ?? "").split(".").at(-1) ?? "");
  const places = goal.dungeon_tags.map((/** @type {string} */ one) =>
    isEntityId(one) ? nameOfId(one) : readable(one.split(".").at(-1) ?? one),
  );
  return [
    make("span", {}, `${readable(type ?? "do")} `),
    make("strong", {}, times > 1 ? `${times} × ` : ""),
    rarity,
    target,
    places.length > 0 && make("span", { class: "quiet" }, ` in ${places.join(", ")}`),
  ];
}

/** Several things are of one family, so its list is what is meant. @param {string} id @param {import("./data-names.js").Context} context */
function familyLink(id, { pageOf }) {
  const lists = /** @type {Record<string, string>} */ ({ item: "items", monster: "monsters" });
  const list = lists[id.split(".")[1] ?? ""];
  const name = nameOfId(id);
  return list ? make("a", { href: pageOf(list, { archetype: id }) }, name) : make("span", {}, name);
}

/** @param {any} entry @param {import("./data-names.js").Context} context */
function gainOf({ type, count: times, ...references }, context) {
  const id = Object.values(references).find(isEntityId);
  const amount = make("strong", {}, `${times} × `);
  if (id === undefined) return [amount, readable(type)];
  const name = context.nameOf(id) ?? nameOfId(id);
  const kind =
    type === "item" ? "" : make("span", { class: "quiet" }, ` ${readable(type).toLowerCase()}`);
  return [amount, make("a", { href: context.addressOf(id) }, name), kind];
}
