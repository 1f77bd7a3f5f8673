/** @typedef {import("./game.js").Game} Game @typedef {import("./client/emberline.ts").Player} Player */

const views = ["loading", "home", "waiting", "question", "finished"];

/** Colours of the badges in the style sheet. */
const tones = 6;

/** @param {string} id @returns {any} */
export const el = (id) => document.getElementById(id);

/** Texts of players only ever become text nodes. @param {string} tag @param {string} text @param {string} [name] */
export function make(tag, text, name = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = name;
  return node;
}

/** Leaves unchanged text alone, so that live regions speak only of news. @param {string} id @param {string} text */
export function setText(id, text) {
  if (el(id).textContent !== text) el(id).textContent = text;
}

/** Tells people something above the page; nothing with an empty text. @param {string} text */
export function notify(text) {
  el("notice").hidden = text === "";
  setText("notice-text", text);
}

/** @param {string} slug */
export const readable = (slug) => {
  const text = slug.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** @param {string} name @returns {boolean} whether another view was shown before */
export function showView(name) {
  const isNew = el(`view-${name}`).hidden;
  for (const view of views) el(`view-${view}`).hidden = view !== name;
  return isNew;
}

/**
 * Rows are rebuilt under the fingers of whoever moves through them with the keyboard, so the focus stays at
 * what carries the same `data-key`, or goes to the title of the view when that is gone.
 * @param {string} id @param {HTMLElement[]} rows
 */
export function replaceRows(id, rows) {
  const list = el(id);
  const focused = list.contains(document.activeElement) && document.activeElement.dataset.key;
  list.replaceChildren(...rows);
  if (!focused) return;
  const same = list.querySelector(`[data-key="${CSS.escape(focused)}"]`);
  (same ?? list.closest(".view").querySelector("h1")).focus({ preventScroll: true });
}

/** Letters of any script turn by themselves; a name may not turn what is written beside it. @param {string} name */
const plainName = (name) => name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** A name inside a line of text. @param {string} name */
export const isolated = (name) => `\u2068${plainName(name)}\u2069`;

/** What a reader takes for the first letter: flags, families and accents are several characters. @param {string} name */
function initialOf(name) {
  const seen = plainName(name).replace(/^[\s\p{Default_Ignorable_Code_Point}]+/u, "");
  const all = Intl.Segmenter ? new Intl.Segmenter().segment(seen) : seen;
  const [first] = all;
  return (first?.segment ?? first ?? "?").toUpperCase();
}

/** @param {Game} game @param {Player} player @param {string} state */
export function playerRow(game, player, state) {
  const row = make("li", "", player.is_connected ? "" : "away");
  const badge = make("span", initialOf(player.name), `badge tone-${player.id % tones}`);
  badge.setAttribute("aria-hidden", "true");
  const name = make("span", "", "player-name");
  name.append(make("bdi", plainName(player.name)));
  if (player.id === game.playerId) name.append(make("small", " (you)", "quiet"));
  const shown = player.is_connected ? state : "away";
  row.append(badge, name, make("span", shown, "state"));
  return row;
}
