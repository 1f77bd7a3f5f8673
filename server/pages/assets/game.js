/**
 * What a tab knows of its lobby, folded from answers and events. No DOM, no network.
 *
 * @typedef {import("./client.js").Lobby} Lobby
 * @typedef {import("./client.js").Message} Message
 * @typedef {import("./client.js").Choice} Choice
 * @typedef {{ playerId: number, lobby: Lobby | null, clockOffsetMs: number, seq: number,
 *   picks: Map<number, number>, mine: Choice | null, early: any, endReason: string | null,
 *   removed: "left" | "kicked" | null }} Game
 */

/** @param {number} playerId @param {Choice | null} mine @returns {Game} */
export function newGame(playerId, mine) {
  return {
    playerId,
    lobby: null,
    clockOffsetMs: -Infinity,
    seq: -1,
    picks: new Map(),
    mine,
    early: null,
    endReason: null,
    removed: null,
  };
}

/** The server's clock as well as this tab can know it. @param {Game} game */
export function serverNow(game) {
  return Date.now() + (Number.isFinite(game.clockOffsetMs) ? game.clockOffsetMs : 0);
}

/**
 * Takes over a lobby unless a later one is known already: answers and events overtake each other.
 * @param {Game} game @param {Lobby} lobby
 */
export function takeLobby(game, lobby) {
  // A message only ever arrives late, so the largest difference seen is the nearest to the truth.
  game.clockOffsetMs = Math.max(game.clockOffsetMs, lobby.server_now_ms - Date.now());
  if (lobby.seq < game.seq) return;
  const before = game.lobby?.current_question?.index;
  game.seq = lobby.seq;
  game.lobby = lobby;
  const index = lobby.current_question?.index;
  if (before !== index) game.picks.clear();
  if (game.early?.index !== index) game.early = null;
  if (game.mine && index !== undefined && game.mine.index !== index) game.mine = null;
}

/** @param {Game} game @param {Message} message */
export function takeMessage(game, message) {
  const { type, data, seq } = message;
  // The snapshot that follows counts, even when it is older than what was seen before.
  if (type === "lobby.gap") game.seq = -1;
  if (data.lobby) takeLobby(game, data.lobby);
  const { lobby } = game;
  if (type === "lobby.ended") game.endReason = data.reason;
  if (type === "lobby.player_removed" && data.player_id === game.playerId)
    game.removed = data.reason;
  if (!lobby || seq <= game.seq) return;
  game.seq = seq;
  if (type === "lobby.answer") lobby.answered_player_ids = data.answered_player_ids;
  if (type === "lobby.pick") notePick(game, lobby, data);
  if (type === "lobby.host_disconnect") lobby.host_disconnect = data.host_disconnect;
}

/** @param {Game} game @param {Lobby} lobby @param {{ player_id: number, selected_index: number }} pick */
function notePick(game, lobby, pick) {
  game.picks.set(pick.player_id, pick.selected_index);
  if (lobby.answered_player_ids.includes(pick.player_id)) return;
  lobby.answered_player_ids = [...lobby.answered_player_ids, pick.player_id];
}

/** @param {Game} game */
export const isHost = (game) => me(game)?.is_host === true;

/** @param {Game} game */
export const me = (game) => game.lobby?.players.find(({ id }) => id === game.playerId) ?? null;

/** What this tab chose for the current question, or null. @param {Game} game */
export function myChoice(game) {
  const question = game.lobby?.current_question;
  const shown = game.lobby?.reveal?.results.find((result) => result.player_id === game.playerId);
  if (shown) return shown.selected_index;
  return game.mine && game.mine.index === question?.index ? game.mine.choice : null;
}

/** In versus an answer is final; in co-op a pick moves until the host locks. @param {Game} game */
export function canChoose(game) {
  const { lobby } = game;
  if (lobby?.status !== "in_progress" || lobby.reveal || !lobby.current_question) return false;
  if (lobby.mode === "coop") return true;
  return myChoice(game) === null && !lobby.answered_player_ids.includes(game.playerId);
}

/** Players from the most points to the fewest, with their ranks (1, 2, 2, 4). @param {Lobby} lobby */
export function ranking(lobby) {
  const sorted = [...lobby.players].sort((a, b) => b.score - a.score);
  return sorted.map((player) => ({
    player,
    rank: 1 + sorted.filter((other) => other.score > player.score).length,
  }));
}
