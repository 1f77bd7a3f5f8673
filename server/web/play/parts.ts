import { byId, el, setText } from "../dom.ts";
import type { Player } from "../client/emberline.ts";
import type { Game } from "./game.ts";

const views = ["loading", "home", "waiting", "question", "finished"] as const;

/** Number of badge colours in the style sheet. */
const tones = 6;

/** Shows a message above the page; an empty text hides it. */
export function notify(text: string): void {
  byId("notice").hidden = text === "";
  setText("notice-text", text);
}

export function readable(slug: string): string {
  const text = slug.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns whether another view was shown before. */
export function showView(name: (typeof views)[number]): boolean {
  const isNew = byId(`view-${name}`).hidden !== false;
  for (const view of views) byId(`view-${view}`).hidden = view !== name;
  return isNew;
}

/**
 * Replaces the rows of a list. Keyboard focus stays on the row with the same `data-key`, or moves to the
 * title of the view if that row is gone.
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

/** Removes direction controls, so that a name cannot reverse the text beside it. */
const plainName = (name: string) => name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** Isolates the direction of a name inside a line of text. */
export const isolated = (name: string): string => `\u2068${plainName(name)}\u2069`;

/** The first grapheme: flags, families and accents consist of several characters. */
function initialOf(name: string): string {
  const seen = plainName(name).replace(/^[\s\p{Default_Ignorable_Code_Point}]+/u, "");
  // Older browsers have no segmenter.
  const [first] = "Segmenter" in Intl ? new Intl.Segmenter().segment(seen) : [];
  return (first?.segment ?? [...seen][0] ?? "?").toUpperCase();
}

/** A player in a list: badge, name, status, and further details. */
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
