import {
  EmberlineError,
  randomKey,
  type AnswerResult,
  type Lobby,
  type Seat,
  type SeatKey,
  type SeatView,
  type Spectator,
} from "../client/emberline.ts";
import { byId, setText } from "../dom.ts";
import { showConnection } from "./connection.ts";
import { proveReveal } from "./fair-play.ts";
import * as games from "./game.ts";
import type { Choice, Game } from "./game.ts";
import { forgetSeat, keepSeat } from "./kept-seats.ts";
import { notify, showView } from "./parts.ts";
import { renderClock, renderQuestion } from "./question.ts";
import { tabValue } from "./tab.ts";
import { renderFinished, renderHostAway, renderWaiting } from "./views.ts";
import { follow } from "./watch.ts";

interface Present {
  view: Seat | Spectator;
  seat: Seat | null;
  game: Game;
  stop: () => void;
  isOpen: boolean;
  isRead: boolean;
  onGone: (text: string) => void;
}

/** Deadline of a read; after it the page shows a note and retries. */
export const readMs = 4_000;
/** Poll interval while the stream is down. */
const pollMs = 4_000;
/** The server closes a question two seconds after its end; after this time the client requests the reveal. */
const overdueMs = 3_500;
const askAgainMs = 3_000;

export const storedSeat = tabValue<SeatKey>("seat");
const storedChoice = tabValue<Choice>("choice");

/** The lobby of this tab, and the resources to release on leaving it. */
let present: Present | null = null;
let shownQuestion = -1;
let askedForRevealAt = -Infinity;

const speak = (text: string) => setText("spoken", text);

export const currentRoom = (): Present | null => present;

function giveSeatUp() {
  const key = storedSeat.load();
  if (key) forget(key);
}

function forget(key: SeatKey) {
  forgetSeat(key);
  if (storedSeat.load()?.token === key.token) storedSeat.save(null);
}

/** Stops everything that runs for the lobby. */
export function goOut(): void {
  present?.stop();
  present = null;
  giveSeatUp();
  storedChoice.save(null);
  for (const id of ["room", "leave", "host-away", "cheated"]) byId(id).hidden = true;
  showConnection(true);
}

/** Takes the seat; `onGone` is called with a message if the seat is lost. */
export async function sitDown(seat: Seat, onGone: (text: string) => void): Promise<void> {
  const { key } = seat;
  storedSeat.save(key);
  const { lobby, picks = [] }: Pick<SeatView, "lobby" | "picks"> = seat.lobby
    ? { lobby: seat.lobby }
    : await readFirst(seat);
  keepSeat({ key, name: lobby.players.find(({ id }) => id === key.playerId)?.name ?? "" });
  const game = games.newGame(key.playerId, storedChoice.load());
  const room = enter({ view: seat, seat, game, onGone });
  for (const pick of picks) games.notePick(game, pick);
  update();
  const isIn = lobby.mode === "versus" && lobby.answered_player_ids.includes(seat.key.playerId);
  const isKnown = isIn || lobby.reveal !== null;
  // The lobby does not have the stored choice: the page was closed while sending it.
  if (game.mine && !isKnown) void give(room, seat, game.mine).catch(() => {});
}

/** Drops a seat that no longer exists. */
async function readFirst(seat: Seat) {
  try {
    return await seat.read({ deadlineMs: readMs });
  } catch (error) {
    if (error instanceof EmberlineError && error.isFinal) forget(seat.key);
    throw error;
  }
}

export function watchFrom(spectator: Spectator, onGone: (text: string) => void): void {
  enter({ view: spectator, seat: null, game: games.newGame(null, null), onGone });
}

function enter(who: Pick<Present, "view" | "seat" | "game" | "onGone">) {
  present?.stop();
  const { view, game } = who;
  const room: Present = { ...who, stop: () => {}, isOpen: false, isRead: true };
  present = room;
  shownQuestion = -1;
  const stopStream = follow(view, {
    onEvent: (event) => {
      games.noteEvent(game, event);
      update();
      if (event.type === "lobby.snapshot" && room.seat && games.isPicking(event.data.lobby))
        void refresh();
    },
    onOpen: (isOpen) => {
      noteConnection(room, { isOpen });
      if (isOpen && !room.isRead) void refresh();
    },
    onRefused: (error) => {
      noteConnection(room, { isOpen: false });
      if (error instanceof EmberlineError && error.isFinal)
        room.onGone("You are no longer in this game.");
    },
  });
  const poll = setInterval(() => {
    if (!room.isOpen || !room.isRead) void refresh();
  }, pollMs);
  room.stop = () => {
    stopStream();
    clearInterval(poll);
  };
  update();
  return room;
}

/** Records the state of the stream or of the last read. */
function noteConnection(room: Present, news: Partial<Pick<Present, "isOpen" | "isRead">>) {
  Object.assign(room, news);
  const isOver = room.game.lobby?.status === "finished";
  if (room === present) showConnection(isOver || (room.isOpen && room.isRead));
}

/** Reads the lobby itself, in case events were missed. */
export async function refresh(): Promise<void> {
  const room = present;
  if (!room) return;
  try {
    const read: Pick<SeatView, "player" | "picks"> = await room.view.read({ deadlineMs: readMs });
    if (room !== present) return;
    noteConnection(room, { isRead: true });
    if (room.seat && !read.player) return room.onGone("You are no longer in this game.");
    for (const pick of read.picks ?? []) games.notePick(room.game, pick);
    update();
  } catch (error) {
    if (room !== present) return;
    const isGone = error instanceof EmberlineError && error.isFinal;
    if (isGone) room.onGone("This game is no longer there.");
    else noteConnection(room, { isRead: false });
  }
}

/** Renders the client's current lobby. */
export function update(): void {
  const { game, seat, view } = present ?? {};
  if (!game || !view?.lobby) return;
  games.takeLobby(game, view.lobby, seat?.picks ?? []);
  void proveReveal(game, render);
  render();
}

function render() {
  const room = present;
  const lobby = room?.game.lobby;
  if (!room || !lobby) return;
  const { game, seat } = room;
  if (game.removed === "kicked") return room.onGone("The host removed you from the game.");
  if (game.removed === "away") return room.onGone("You were away, and somebody took your seat.");
  if (seat && !games.me(game) && lobby.status !== "finished")
    return room.onGone("You are no longer in this game.");
  renderBar(game, lobby);
  renderHostAway(game);
  if (lobby.status === "waiting") renderLobby(room, lobby);
  else if (lobby.status === "in_progress") renderPlaying(game, lobby);
  else renderEnd(room, lobby);
}

function renderBar(game: Game, lobby: Lobby) {
  byId("room").hidden = false;
  byId("leave").hidden = false;
  setText("room-code", lobby.code);
  const count = lobby.spectator_count;
  setText("watchers", count > 0 ? `${count} watching` : "");
  const isOver = lobby.status === "finished";
  setText("leave", isOver ? "Back" : games.isWatching(game) ? "Stop watching" : "Leave");
}

function renderLobby({ game, seat }: Present, lobby: Lobby) {
  const isNew = showView("waiting");
  const before = byId("waiting-players").childElementCount;
  renderWaiting(game, lobby, (id) => void remove(seat, id));
  if (isNew) byId("view-waiting").querySelector("h1")?.focus();
  else if (lobby.players.length > before) speak(`${lobby.players.at(-1)?.name} joined`);
}

async function remove(seat: Seat | null, playerId: number) {
  try {
    await seat?.kick(playerId);
  } catch (error) {
    if (!(error instanceof EmberlineError)) throw error;
    notify(error.message);
    await refresh();
  }
}

function renderPlaying(game: Game, lobby: Lobby) {
  showView("question");
  const wasRevealed = !byId("reveal").hidden;
  renderQuestion(game, lobby);
  renderClock(game);
  const index = lobby.current_question?.index ?? -1;
  if (index !== shownQuestion) byId("question").focus();
  else if (lobby.reveal && !wasRevealed) {
    const right = lobby.current_question?.payload.choices[lobby.reveal.correct_index];
    speak(
      `${byId("verdict").textContent}. The right answer: ${right}. ${lobby.reveal.explanation}`,
    );
    if (games.isHost(game)) byId("next").focus();
  }
  shownQuestion = index;
}

function renderEnd(room: Present, lobby: Lobby) {
  const isNew = showView("finished");
  renderFinished(room.game, lobby);
  if (!isNew) return;
  room.stop();
  showConnection(true);
  // After a reload the start page is shown instead of a finished game.
  giveSeatUp();
  byId("finish-title").focus();
}

export async function choose(choice: number): Promise<void> {
  const { seat, game } = present ?? {};
  const question = game?.lobby?.current_question;
  if (!present || !seat || !game || !question || !games.canChoose(game)) return;
  const elapsedMs = Math.round(Math.max(0, games.serverNow(game) - question.started_at_ms));
  const tookMs = Math.min(600_000, elapsedMs);
  await give(present, seat, { index: question.index, choice, tookMs, key: randomKey() });
}

/** Shows and stores the choice before it is sent, so that a reloaded page can send it again. */
async function give({ game }: Present, seat: Seat, chosen: Choice) {
  const { index, choice, tookMs, key } = chosen;
  game.mine = chosen;
  storedChoice.save(chosen);
  render();
  try {
    if (game.lobby?.mode === "coop") return await pickInTurn(game, seat, chosen);
    const sent = { index, selected_index: choice, time_taken_ms: tookMs };
    takeResult(game, index, await seat.answer(sent, { key }));
  } catch (error) {
    // A later choice is kept, whatever happened to this one.
    if (game.mine !== chosen) throw error;
    game.mine = null;
    storedChoice.save(null);
    render();
    throw error;
  }
}

/** Serializes picks: a retried pick must not arrive after its successor. */
let picking = Promise.resolve();

function pickInTurn(game: Game, seat: Seat, chosen: Choice) {
  const { index, choice, key } = chosen;
  const sent = picking.then(async () => {
    if (game.mine !== chosen) return;
    await seat.pick({ index, selected_index: choice }, { key });
    chosen.isSent = true;
    if (storedChoice.load() === chosen) storedChoice.save(null);
  });
  picking = sent.catch(() => {});
  return sent;
}

/** Shows the own result before the reveal. */
function takeResult(game: Game, index: number, result: AnswerResult) {
  if (game.lobby?.current_question?.index !== index) return;
  game.early = { index, ...result };
  speak(result.is_correct ? `Right! ${result.points_earned} points.` : "Not this time.");
  render();
}

/** Updates the parts that change with time; requests an overdue reveal. */
export function tick(): void {
  const { game, seat } = present ?? {};
  if (!game?.lobby) return;
  renderHostAway(game);
  const { current_question: question, reveal, status } = game.lobby;
  if (status !== "in_progress" || !question) return;
  renderClock(game);
  const isOverdue = !reveal && games.serverNow(game) > question.ends_at_ms + overdueMs;
  const now = performance.now();
  if (!seat || !isOverdue || now - askedForRevealAt < askAgainMs) return;
  askedForRevealAt = now;
  void seat
    .reveal()
    .then(refresh)
    .catch(() => {});
}
