import { byId, el, setText } from "../dom.ts";
import type { Player } from "../client/emberline.ts";
import type { Game } from "./game.ts";

const views = ["loading", "home", "waiting", "question", "finished"] as const;

/** Colours of the badges in the style sheet. */
const tones = 6;

/** Tells people something above the page; nothing with an empty text. */
export function notify(text: string): void {
  byId("notice").hidden = text === "";
  setText("notice-text", text);
}

export function readable(slug: string): string {
  const text = slug.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether another view was shown before. */
export function showView(name: (typeof views)[number]): boolean {
  const isNew = byId(`view-${name}`).hidden !== false;
  for (const view of views) byId(`view-${view}`).hidden = view !== name;
  return isNew;
}

/**
 * Rows are rebuilt under the fingers of whoever moves through them with the keyboard, so the focus stays at
 * what carries the same `data-key`, or goes to the title of the view when that is gone.
 */
export function replaceRows(id: string, rows: HTMLElement[]): void {
  const list = byId(id);
  const focused = document.activeElement;
  const key = list.contains(focused) ? focused?.getAttribute("data-key") : null;
  list.replaceChildren(...rows);
  if (!key) return;
  const same = list.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  const next = same ?? list.closest(".view")?.querySelector("h1");
  next?.focus({ preventScroll: true });
}

/** Letters of any script turn by themselves; a name may not turn what is written beside it. */
const plainName = (name: string) => name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** A name inside a line of text. */
export const isolated = (name: string): string => `\u2068${plainName(name)}\u2069`;

/** What a reader takes for the first letter: flags, families and accents are several characters. */
function initialOf(name: string): string {
  const seen = plainName(name).replace(/^[\s\p{Default_Ignorable_Code_Point}]+/u, "");
  // Older browsers have no segmenter.
  const [first] = "Segmenter" in Intl ? new Intl.Segmenter().segment(seen) : [];
  return (first?.segment ?? [...seen][0] ?? "?").toUpperCase();
}

/** A player in a list: badge, name, what they are doing, and what else the list says of them. */
export function playerRow(
  game: Game,
  player: Player,
  state: string,
  ...more: (HTMLElement | null)[]
): HTMLLIElement {
  const tone = `badge tone-${player.id % tones}`;
  const isOwn = player.id === game.playerId;
  return el(
    "li",
    { class: player.is_connected ? "" : "away" },
    el("span", { class: tone, "aria-hidden": "true" }, initialOf(player.name)),
    el(
      "span",
      { class: "player-name" },
      el("bdi", {}, plainName(player.name)),
      isOwn ? el("small", { class: "quiet" }, " (you)") : null,
    ),
    el("span", { class: "state" }, player.is_connected ? state : "away"),
    more,
  );
}
