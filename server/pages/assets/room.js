import { ApiError, createSeat, randomKey, watchLobby } from "./client.js";
import { el, setText, showView } from "./dom.js";
import { canChoose, isHost, me, newGame, serverNow, takeLobby, takeMessage } from "./game.js";
import { renderClock, renderQuestion } from "./question.js";
import { tabValue } from "./tab.js";
import { renderFinished, renderHostAway, renderWaiting } from "./views.js";

/** @typedef {import("./client.js").SeatKey} SeatKey @typedef {import("./client.js").Lobby} Lobby */
/** @typedef {{ key: SeatKey, calls: ReturnType<typeof createSeat>, game: import("./game.js").Game,
 *   stop: () => void, isOpen: boolean, onGone: (text: string) => void }} Seated */

const heartbeatMs = 30_000;
/** While the stream is away the lobby is read this often. */
const pollMs = 4_000;
/** The server closes a question two seconds after its end; later than this we ask. */
const overdueMs = 3_500;
const askAgainMs = 3_000;

export const storedSeat = tabValue("seat");
const storedChoice = tabValue("choice");

/** The seat this tab sits on, with everything that ends when it is left. @type {Seated | null} */
let seated = null;
let shownQuestion = -1;
let askedForRevealAt = 0;

/** @param {string} text */
const speak = (text) => setText("spoken", text);

export const currentSeat = () => seated;

/** Ends what runs for the seat and forgets it. */
export function standUp() {
  seated?.stop();
  seated = null;
  storedSeat.save(null);
  storedChoice.save(null);
  for (const id of ["room", "leave", "connection", "host-away"]) el(id).hidden = true;
}

/**
 * Takes the seat; `onGone` is called when it is lost, with the reason for people.
 * @param {SeatKey} key @param {Lobby | null} lobby @param {(text: string) => void} onGone
 */
export async function sitDown(key, lobby, onGone) {
  const calls = createSeat(key);
  const answer = lobby ?? (await calls.read()).lobby;
  storedSeat.save(key);
  const game = newGame(key.playerId, storedChoice.load());
  const seat = { key, calls, game, stop: () => {}, isOpen: false, onGone };
  seated = seat;
  shownQuestion = -1;
  takeLobby(game, answer);
  const stopStream = watchLobby(key, answer.hub.topic, {
    onMessage: (message) => {
      takeMessage(game, message);
      render();
    },
    onState: (isOpen) => {
      seat.isOpen = isOpen;
      el("connection").hidden = isOpen;
    },
    onRefused: () => onGone("You are no longer in this game."),
  });
  const beat = setInterval(() => void calls.heartbeat().catch(() => {}), heartbeatMs);
  const poll = setInterval(() => {
    if (!seat.isOpen) void refresh();
  }, pollMs);
  seat.stop = () => {
    stopStream();
    clearInterval(beat);
    clearInterval(poll);
  };
  render();
  const isKnown = answer.answered_player_ids.includes(key.playerId) || answer.reveal !== null;
  // A choice the lobby does not know of was on its way when the page went away.
  if (game.mine && !isKnown) void give(seat, game.mine).catch(() => {});
}

/** Reads the lobby itself: the way back when events may have been missed. */
export async function refresh() {
  const seat = seated;
  if (!seat) return;
  try {
    const { lobby, player } = await seat.calls.read();
    if (seat !== seated) return;
    if (!player) return seat.onGone("You are no longer in this game.");
    show(lobby);
  } catch (error) {
    const isGone = error instanceof ApiError && [401, 404].includes(error.status);
    if (isGone && seat === seated) seat.onGone("This game is no longer there.");
  }
}

/** @param {Lobby | null} lobby */
export function show(lobby) {
  if (!seated || !lobby) return;
  takeLobby(seated.game, lobby);
  render();
}

function render() {
  const game = seated?.game;
  const lobby = game?.lobby;
  if (!seated || !game || !lobby) return;
  if (game.removed === "kicked") return seated.onGone("The host removed you from the game.");
  if (!me(game) && lobby.status !== "finished")
    return seated.onGone("You are no longer in this game.");
  el("room").hidden = false;
  el("leave").hidden = false;
  setText("room-code", lobby.code);
  setText("leave", lobby.status === "finished" ? "Back" : "Leave");
  renderHostAway(game);
  if (lobby.status === "waiting") renderLobby(lobby);
  else if (lobby.status === "in_progress") renderPlaying(lobby);
  else renderEnd(lobby);
}

/** @param {Lobby} lobby */
function renderLobby(lobby) {
  const { game, calls } = seated;
  const isNew = showView("waiting");
  const before = el("waiting-players").childElementCount;
  renderWaiting(game, lobby, (id) => void calls.kick(id).catch(refresh));
  if (isNew) el("view-waiting").querySelector("h1").focus();
  else if (lobby.players.length > before) speak(`${lobby.players.at(-1)?.name} joined`);
}

/** @param {Lobby} lobby */
function renderPlaying(lobby) {
  showView("question");
  const wasRevealed = !el("reveal").hidden;
  renderQuestion(seated.game, lobby);
  renderClock(seated.game);
  const index = lobby.current_question?.index ?? -1;
  if (index !== shownQuestion) el("question").focus();
  else if (lobby.reveal && !wasRevealed) {
    const right = lobby.current_question?.payload.choices[lobby.reveal.correct_index];
    speak(`${el("verdict").textContent}. The right answer: ${right}. ${lobby.reveal.explanation}`);
    if (isHost(seated.game)) el("next").focus();
  }
  shownQuestion = index;
}

/** @param {Lobby} lobby */
function renderEnd(lobby) {
  const isNew = showView("finished");
  renderFinished(seated.game, lobby);
  if (!isNew) return;
  seated.stop();
  el("connection").hidden = true;
  // A reload shows the start again instead of a game that is over.
  storedSeat.save(null);
  el("finish-title").focus();
}

/** @param {number} choice */
export async function choose(choice) {
  const game = seated?.game;
  const question = game?.lobby?.current_question;
  if (!seated || !game || !question || !canChoose(game)) return;
  const elapsedMs = Math.round(Math.max(0, serverNow(game) - question.started_at_ms));
  const tookMs = Math.min(600_000, elapsedMs);
  await give(seated, { index: question.index, choice, tookMs, key: randomKey() });
}

/** Shows and keeps the choice before it is sent, so that a reloaded page can send it again. @param {Seated} seat @param {import("./client.js").Choice} chosen */
async function give({ calls, game }, chosen) {
  const before = game.mine === chosen ? null : game.mine;
  game.mine = chosen;
  storedChoice.save(chosen);
  render();
  try {
    if (game.lobby?.mode === "coop") await calls.pick(chosen);
    else takeResult(game, chosen.index, await calls.answer(chosen));
  } catch (error) {
    game.mine = before;
    storedChoice.save(before);
    render();
    throw error;
  }
}

/** The own result is known before the reveal. @param {import("./game.js").Game} game @param {number} index @param {any} result */
function takeResult(game, index, result) {
  if (game.lobby?.current_question?.index !== index) return;
  game.early = { index, ...result };
  speak(result.is_correct ? `Right! ${result.points_earned} points.` : "Not this time.");
  render();
}

export function tick() {
  const game = seated?.game;
  if (!seated || !game?.lobby) return;
  renderHostAway(game);
  const { current_question: question, reveal, status } = game.lobby;
  if (status !== "in_progress" || !question) return;
  renderClock(game);
  const isOverdue = !reveal && serverNow(game) > question.ends_at_ms + overdueMs;
  if (!isOverdue || Date.now() - askedForRevealAt < askAgainMs) return;
  askedForRevealAt = Date.now();
  void seated.calls
    .reveal()
    .then(refresh)
    .catch(() => {});
}
