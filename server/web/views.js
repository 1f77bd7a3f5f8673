import { el, isolated, make, playerRow, readable, replaceRows, setText } from "./dom.js";
import { isHost, isWatching, ranking, serverNow } from "./game.js";

/** @typedef {import("./game.js").Game} Game @typedef {import("./client/emberline.ts").Lobby} Lobby */
/** @typedef {import("./client/emberline.ts").Player} Player */

const minPlayers = 2;

const endings = {
  completed: "That was the last question.",
  host_ended: "The host ended the game.",
  host_left: "The host left, so the game is over.",
  host_timeout: "The host lost the connection, so the game is over.",
  idle: "The game ended because nothing happened for a while.",
  operator: "The game was ended by the operators.",
};

/** @param {Lobby} lobby */
export function describe(lobby) {
  const categories = lobby.selected_categories.length
    ? lobby.selected_categories
    : [lobby.category ?? "random"];
  const topic = categories.map((name) =>
    name === "random" ? "A bit of everything" : readable(name),
  );
  const count = lobby.num_questions === null ? "endless" : plural(lobby.num_questions, "question");
  const mode = lobby.mode === "coop" ? "Co-op" : "Versus";
  return `${mode} · ${count} · ${lobby.timer} seconds each · ${topic.join(", ")}`;
}

/** @param {number} count @param {string} noun */
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** @param {Lobby[]} lobbies @param {(code: string) => void} join */
export function renderOpenGames(lobbies, join) {
  const isOpen = ({ status }) => status === "waiting";
  const shown = [...lobbies.filter(isOpen), ...lobbies.filter((lobby) => !isOpen(lobby))];
  el("open-none").hidden = shown.length > 0;
  const rows = shown.map((lobby) => openGame(lobby, join));
  replaceRows("open-games", rows);
}

/** @param {Lobby} lobby @param {(code: string) => void} join */
function openGame(lobby, join) {
  const item = document.createElement("li");
  const text = document.createElement("div");
  text.append(make("strong", lobby.host_name), make("small", describe(lobby), "quiet block"));
  const watch = /** @type {HTMLAnchorElement} */ (make("a", "Watch", "button"));
  watch.href = `#watch=${lobby.code}`;
  watch.setAttribute("data-key", `${lobby.code} watch`);
  watch.setAttribute("aria-label", `Watch the game of ${lobby.host_name}`);
  item.append(text, watch);
  if (lobby.status === "waiting") item.append(joinButton(lobby, join));
  return item;
}

/** @param {Lobby} lobby @param {(code: string) => void} join */
function joinButton(lobby, join) {
  const isFull = lobby.players.length >= lobby.max_players;
  const [count, most] = [lobby.players.length, lobby.max_players];
  const button = make("button", isFull ? "Full" : `Join ${count}/${most}`, "primary");
  const said = isFull ? "Full: the game of" : "Join the game of";
  button.setAttribute("data-key", `${lobby.code} join`);
  button.setAttribute("aria-label", `${said} ${lobby.host_name}, ${count} of ${most} players`);
  button.toggleAttribute("disabled", isFull);
  button.addEventListener("click", () => join(lobby.code));
  return button;
}

/** @param {Game} game @param {Lobby} lobby @param {(playerId: number) => void} kick */
export function renderWaiting(game, lobby, kick) {
  setText("big-code", lobby.code);
  setText("settings-line", describe(lobby));
  setText("seat-count", `${lobby.players.length} of ${lobby.max_players}`);
  const mayKick = (player) => isHost(game) && !player.is_host;
  const rows = lobby.players.map((player) => {
    const row = playerRow(game, player, player.is_host ? "host" : "");
    if (mayKick(player)) row.append(kickButton(player, kick));
    return row;
  });
  replaceRows("waiting-players", rows);
  setText("waiting-title", isWatching(game) ? "Waiting for the game" : "Waiting for players");
  el("copy-watch-link").hidden = lobby.visibility !== "public";
  const isReady = lobby.players.length >= minPlayers;
  el("start").hidden = !isHost(game);
  el("start").disabled = !isReady;
  const hint = isReady
    ? ""
    : "At least two players are needed. Send the code to a friend, or open a second window.";
  const others = isWatching(game)
    ? "You are watching. It begins when the host starts it."
    : "The host starts the game when everybody is here.";
  setText("start-hint", isHost(game) ? hint : others);
}

/** @param {Player} player @param {(playerId: number) => void} kick */
function kickButton(player, kick) {
  const button = make("button", "Remove", "small");
  button.setAttribute("aria-label", `Remove ${player.name}`);
  button.setAttribute("data-key", `remove ${player.id}`);
  button.addEventListener("click", () => kick(player.id));
  return button;
}

/** @param {Game} game @param {Lobby} lobby */
export function renderFinished(game, lobby) {
  const ranked = ranking(lobby);
  const best = ranked.filter(({ rank }) => rank === 1).map(({ player }) => player);
  const isWinner = best.some(({ id }) => id === game.playerId);
  const names = best.map(({ name }) => isolated(name)).join(" and ");
  const title = isWinner && best.length === 1 ? "You won!" : `${names} won`;
  const isPlayed = ranked.some(({ player }) => player.score > 0);
  const together = ranked.reduce((sum, { player }) => sum + player.score, 0);
  const coopTitle = `${together} points together`;
  setText(
    "finish-title",
    !isPlayed ? "The game is over" : lobby.mode === "coop" ? coopTitle : title,
  );
  el("sheet").hidden = !isHost(game) || lobby.started_at === null;
  setText("finish-reason", endings[game.endReason ?? ""] ?? "");
  const rows = ranked.map(({ player, rank }) => {
    const row = playerRow(game, player, `${player.num_correct} right`);
    row.prepend(make("span", `${rank}.`, "rank"));
    row.classList.toggle("first", rank === 1 && isPlayed);
    row.append(make("strong", String(player.score), "score"));
    return row;
  });
  el("scoreboard").replaceChildren(...rows);
}

/** @param {Game} game */
export function renderHostAway(game) {
  const gone = game.lobby?.status === "finished" ? null : game.lobby?.host_disconnect;
  el("host-away").hidden = !gone;
  if (!gone) return;
  const seconds = Math.max(0, Math.ceil((gone.ends_at_ms - serverNow(game)) / 1000));
  setText(
    "host-away",
    `The host lost the connection. The game ends in ${seconds} s unless they return.`,
  );
}
