import type {
  AnswerResult,
  EndReason,
  Lobby,
  LobbyEvent,
  PlayerPick,
} from "../client/emberline.ts";

/** The player's choice. Sent again under the same key, it counts once. */
export interface Choice {
  index: number;
  choice: number;
  tookMs: number;
  key: string;
  isSent?: boolean;
}

/** State of this tab besides the lobby, which the client keeps. No DOM, no network. */
export interface Game {
  playerId: number | null;
  lobby: Lobby | null;
  clockOffsetMs: number;
  /** Choices of the open co-op question by player. */
  picks: ReadonlyMap<number, number>;
  mine: Choice | null;
  early: (AnswerResult & { index: number }) | null;
  hash: { index: number; text: string | null } | null;
  proof: { index: number; isGood: boolean } | null;
  endReason: EndReason | null;
  removed: "left" | "kicked" | "away" | null;
}

/** Without a player id the tab is a spectator. */
export function newGame(playerId: number | null, mine: Choice | null): Game {
  return {
    playerId,
    lobby: null,
    clockOffsetMs: -Infinity,
    picks: new Map(),
    mine,
    early: null,
    hash: null,
    proof: null,
    endReason: null,
    removed: null,
  };
}

/** Estimate of the server's clock, based on the monotonic clock. */
export function serverNow(game: Game): number {
  return Number.isFinite(game.clockOffsetMs) ? performance.now() + game.clockOffsetMs : Date.now();
}

/** Applies the client's current lobby and picks. */
export function takeLobby(game: Game, lobby: Lobby, picks: readonly PlayerPick[]): void {
  // Network delay only makes the server's time look older, so the largest difference is the best estimate.
  // The monotonic clock stops while a device sleeps, which makes the next difference larger.
  game.clockOffsetMs = Math.max(game.clockOffsetMs, lobby.server_now_ms - performance.now());
  game.lobby = lobby;
  game.picks = new Map(picks.map(({ player_id, selected_index }) => [player_id, selected_index]));
  const question = lobby.current_question;
  const index = question?.index;
  if (game.early?.index !== index) game.early = null;
  if (game.mine && index !== undefined && game.mine.index !== index) game.mine = null;
  // The service is bound only to a hash received while the question was open.
  if (question && !lobby.reveal && game.hash?.index !== index)
    game.hash = { index: question.index, text: question.answer_hash };
}

export function noteEvent(game: Game, event: LobbyEvent): void {
  if (event.type === "lobby.ended") game.endReason = event.data.reason;
  if (event.type === "lobby.pick") notePick(game, event.data);
  if (event.type === "lobby.player_removed" && event.data.player_id === game.playerId)
    game.removed = event.data.reason;
}

/**
 * Applies a pick that a read or an event reported. That of this seat counts once it contains our own one, because a
 * later pick may come from another tab.
 */
export function notePick(game: Game, { player_id, selected_index }: PlayerPick): void {
  if (player_id !== game.playerId) return;
  if (game.mine?.isSent || game.mine?.choice === selected_index) game.mine = null;
}

/** Whether the players' picks are known only from events and reads, and not from the lobby itself. */
export const isPicking = ({ mode, current_question: question, reveal }: Lobby): boolean =>
  mode === "coop" && question !== null && reveal === null;

export const isWatching = (game: Game): boolean => game.playerId === null;

export const isHost = (game: Game): boolean => me(game)?.is_host === true;

export const me = (game: Game) =>
  game.lobby?.players.find(({ id }) => id === game.playerId) ?? null;

/** The choice for the current question, from this tab or another one with the same seat. */
export function myChoice(game: Game) {
  const question = game.lobby?.current_question;
  const shown = game.lobby?.reveal?.results.find((result) => result.player_id === game.playerId);
  if (shown) return shown.selected_index;
  if (game.mine && game.mine.index === question?.index) return game.mine.choice;
  return game.playerId === null ? null : (game.picks.get(game.playerId) ?? null);
}

/** In versus an answer is final; in co-op a pick can change until the host locks. */
export function canChoose(game: Game) {
  const { lobby, playerId } = game;
  if (playerId === null || lobby?.status !== "in_progress") return false;
  if (lobby.reveal || !lobby.current_question) return false;
  if (lobby.mode === "coop") return true;
  return myChoice(game) === null && !lobby.answered_player_ids.includes(playerId);
}

/** Players by descending points, with their ranks (1, 2, 2, 4). */
export function ranking(lobby: Lobby) {
  const sorted = [...lobby.players].sort((a, b) => b.score - a.score);
  return sorted.map((player) => ({
    player,
    rank: 1 + sorted.filter((other) => other.score > player.score).length,
  }));
}
