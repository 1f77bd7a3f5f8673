import type { EndReason, Lobby, Player } from "../client/emberline.ts";
import { byId, el, setText } from "../dom.ts";
import { isHost, isWatching, ranking, serverNow, type Game } from "./game.ts";
import { isolated, playerRow, readable, replaceRows } from "./parts.ts";

const minPlayers = 2;

const endings: Readonly<Record<EndReason, string>> = {
  completed: "That was the last question.",
  host_ended: "The host ended the game.",
  host_left: "The host left, so the game is over.",
  host_timeout: "The host lost the connection, so the game is over.",
  idle: "The game ended because nothing happened for a while.",
  operator: "The game was ended by the operators.",
};

export function describe(lobby: Lobby): string {
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

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

export function renderOpenGames(lobbies: Lobby[], join: (code: string) => void): void {
  const isOpen = ({ status }: Lobby) => status === "waiting";
  const shown = [...lobbies.filter(isOpen), ...lobbies.filter((lobby) => !isOpen(lobby))];
  byId("open-none").hidden = shown.length > 0;
  const rows = shown.map((lobby) => openGame(lobby, join));
  replaceRows("open-games", rows);
}

function openGame(lobby: Lobby, join: (code: string) => void) {
  const watch = {
    class: "button",
    href: `#watch=${lobby.code}`,
    "data-key": `${lobby.code} watch`,
    "aria-label": `Watch the game of ${lobby.host_name}`,
  };
  return el(
    "li",
    {},
    el(
      "div",
      {},
      el("strong", {}, lobby.host_name),
      el("small", { class: "quiet block" }, describe(lobby)),
    ),
    el("a", watch, "Watch"),
    lobby.status === "waiting" ? joinButton(lobby, join) : null,
  );
}

/** A game in which this browser has a seat. */
export interface OwnGame {
  lobby: Lobby;
  player: { id: number; name: string; is_host: boolean };
  comeBack: () => void;
}

export function renderOwnGames(games: readonly OwnGame[]): void {
  byId("own").hidden = games.length === 0;
  replaceRows("own-games", games.map(ownGame));
}

function ownGame({ lobby, player, comeBack }: OwnGame) {
  const name = isolated(player.name);
  const role = player.is_host ? `You host it as ${name}` : `You play as ${name}`;
  const button = {
    class: "primary",
    "data-key": `${lobby.code} ${player.id}`,
    "aria-label": `Come back to the game ${lobby.code} as ${name}`,
    onclick: comeBack,
  };
  const facts = el("small", { class: "quiet block" }, `${role}. ${describe(lobby)}`);
  return el(
    "li",
    {},
    el("div", {}, el("strong", {}, `Game ${lobby.code}`), facts),
    el("button", button, "Come back"),
  );
}

/** A silent seat may yield to who joins (LOB-30). */
const isFull = ({ players, max_players }: Lobby) =>
  players.length >= max_players && players.every((one) => one.is_connected || one.is_host);

function joinButton(lobby: Lobby, join: (code: string) => void) {
  const isRefused = isFull(lobby);
  const [count, most] = [lobby.players.length, lobby.max_players];
  const said = isRefused ? "Full: the game of" : "Join the game of";
  const attributes = {
    class: "primary",
    "data-key": `${lobby.code} join`,
    "aria-label": `${said} ${lobby.host_name}, ${count} of ${most} players`,
    disabled: isRefused,
    onclick: () => join(lobby.code),
  };
  return el("button", attributes, isRefused ? "Full" : `Join ${count}/${most}`);
}

export function renderWaiting(game: Game, lobby: Lobby, kick: (playerId: number) => void): void {
  setText("big-code", lobby.code);
  setText("settings-line", describe(lobby));
  setText("seat-count", `${lobby.players.length} of ${lobby.max_players}`);
  const rows = lobby.players.map((player) => {
    const mayKick = isHost(game) && !player.is_host;
    const state = player.is_host ? "host" : "";
    return playerRow(game, player, state, mayKick ? kickButton(player, kick) : null);
  });
  replaceRows("waiting-players", rows);
  setText("waiting-title", isWatching(game) ? "Waiting for the game" : "Waiting for players");
  byId("copy-watch-link").hidden = lobby.visibility !== "public";
  const isReady = lobby.players.length >= minPlayers;
  const start = byId("start", HTMLButtonElement);
  start.hidden = !isHost(game);
  start.disabled = !isReady;
  const hint = isReady
    ? ""
    : "At least two players are needed. Send the code to a friend, or open a second window.";
  const others = isWatching(game)
    ? "You are watching. It begins when the host starts it."
    : "The host starts the game when everybody is here.";
  setText("start-hint", isHost(game) ? hint : others);
}

function kickButton(player: Player, kick: (playerId: number) => void) {
  const attributes = {
    class: "small",
    "aria-label": `Remove ${player.name}`,
    "data-key": `remove ${player.id}`,
    onclick: () => kick(player.id),
  };
  return el("button", attributes, "Remove");
}

export function renderFinished(game: Game, lobby: Lobby): void {
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
  byId("sheet").hidden = !isHost(game) || lobby.started_at === null;
  setText("finish-reason", game.endReason === null ? "" : endings[game.endReason]);
  const rows = ranked.map(({ player, rank }) => {
    const score = el("strong", { class: "score" }, String(player.score));
    const row = playerRow(game, player, `${player.num_correct} right`, score);
    row.prepend(el("span", { class: "rank" }, `${rank}.`));
    row.classList.toggle("first", rank === 1 && isPlayed);
    return row;
  });
  byId("scoreboard").replaceChildren(...rows);
}

export function renderHostAway(game: Game): void {
  const gone = game.lobby?.status === "finished" ? null : game.lobby?.host_disconnect;
  byId("host-away").hidden = !gone;
  if (!gone) return;
  const seconds = Math.max(0, Math.ceil((gone.ends_at_ms - serverNow(game)) / 1000));
  setText(
    "host-away",
    `The host lost the connection. The game ends in ${seconds} s unless they return.`,
  );
}
