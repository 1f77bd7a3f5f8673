import { Emberline, EmberlineError, lobbyCode } from "/client/emberline.js";
import { showConnection } from "./connection.js";
import { el, notify, readable, showView } from "./dom.js";
import { isHost, isWatching } from "./game.js";
import { keepSeat, keptSeat } from "./kept-seats.js";
import { makeChoices } from "./question.js";
import * as room from "./room.js";
import { whileSeen } from "./seen.js";
import { downloadSheet, shareLink } from "./share.js";
import { tabValue } from "./tab.js";
import { renderOpenGames } from "./views.js";

const clockMs = 200;
const retryMs = 2_000;
const watchPattern = /^#watch=([^&]+)$/;

const storedName = tabValue("name");
const service = new Emberline({ guest: tabValue("guest") });

/** Ends the list of open games where it is followed. @type {(() => void) | null} */
let endListing = null;

/**
 * Runs what a button asks for: one at a time, and a refusal is shown instead of lost.
 * @param {HTMLElement | null} button @param {() => Promise<unknown>} work
 */
async function act(button, work) {
  if (button?.getAttribute("aria-busy") === "true") return;
  button?.setAttribute("aria-busy", "true");
  notify("");
  try {
    await work();
  } catch (error) {
    if (!(error instanceof EmberlineError)) throw error;
    notify(error.message);
    if (["lobby:token_invalid", "lobby:player_not_found"].includes(error.code))
      goHome(error.message);
  } finally {
    button?.removeAttribute("aria-busy");
  }
}

function goHome(text = "") {
  const isLeaving = room.currentRoom() !== null;
  room.goOut();
  showView("home");
  notify(text);
  if (isLeaving) el("home-title").focus();
  endListing ??= whileSeen((signal) => void listOpenGames(signal).catch(() => {}));
}

/** @param {AbortSignal} signal */
async function listOpenGames(signal) {
  const join = (/** @type {string} */ code) => void act(el("open-games"), () => joinGame(code));
  const onState = (/** @type {string} */ state) => {
    if (!signal.aborted && state !== "connecting") showConnection(state === "open");
  };
  const lists = service.publicLobbies({ signal, onState });
  for await (const lobbies of lists) renderOpenGames(lobbies, join);
}

/** The list needs a connection of its own, of which a browser has few. */
function stopListing() {
  endListing?.();
  endListing = null;
  history.replaceState(null, "", "/play");
}

/** @param {import("./client/emberline.ts").Seat} seat */
async function enter(seat) {
  await room.sitDown(seat, goHome);
  // Whoever was removed meanwhile is at the start by then.
  if (room.currentRoom()) stopListing();
}

function yourName() {
  const input = el("name");
  input.setCustomValidity(input.value.trim() === "" ? "Please say who you are." : "");
  if (!input.reportValidity()) return null;
  storedName.save(input.value.trim());
  return input.value.trim();
}

/** @param {string} code */
async function joinGame(code) {
  const name = yourName();
  if (name === null) return;
  let seat;
  try {
    seat = await service.join(code, name);
  } catch (refusal) {
    return joinAgain(code, name, refusal);
  }
  // Whatever fails from here on, nobody else can sit down under this name.
  keepSeat({ key: seat.key, name });
  await enter(seat);
}

/** Who is refused may be the one who has the seat. @param {string} code @param {string} name @param {unknown} refusal */
async function joinAgain(code, name, refusal) {
  const key = isTaken(refusal) ? keptSeat(code, name) : null;
  if (!key) throw refusal;
  await enter(service.seat(key)).catch((error) => {
    throw error instanceof EmberlineError && error.isFinal ? refusal : error;
  });
}

/** No seat is left, or not under this name: perhaps because the one who asks has it, and closed the tab. @param {unknown} refusal */
const isTaken = (refusal) =>
  refusal instanceof EmberlineError &&
  ["lobby:not_accepting_players", "lobby:name_taken", "lobby:full"].includes(refusal.code);

/** @param {HTMLFormElement} form */
async function create(form) {
  const name = yourName();
  if (name === null) return;
  const fields = new FormData(form);
  const seat = await service.create({
    hostName: name,
    mode: fields.get("mode") === "coop" ? "coop" : "versus",
    numQuestions: Number(fields.get("questions")),
    timer: Number(fields.get("timer")),
    category: String(fields.get("category") ?? "") || null,
    visibility: fields.get("public") ? "public" : "private",
  });
  await enter(seat);
}

/** @param {string} code */
async function watch(code) {
  room.watchFrom(await service.spectate(code), backHome);
  stopListing();
  // A reload goes on watching.
  history.replaceState(null, "", `/play#watch=${code}`);
}

/** Commands of the host's buttons. @type {Record<string, (seat: import("./client/emberline.ts").Seat, index: number) => Promise<unknown>>} */
const hostCommands = {
  start: (seat) => seat.start(),
  lock: (seat, index) => seat.lock(index),
  next: (seat, index) => seat.next(index),
  end: async (seat) => confirm("End the game for everybody?") && seat.end(),
};

/** @param {string} id */
async function command(id) {
  const seat = room.currentRoom()?.seat;
  if (seat) await hostCommands[id](seat, seat.lobby?.current_index ?? 0);
  room.update();
}

async function leave() {
  const { seat, game } = room.currentRoom() ?? {};
  const lobby = game?.lobby;
  if (!game || !lobby || isWatching(game)) return backHome();
  const ends = isHost(game) && lobby.status !== "finished";
  if (ends && !confirm("You are the host: leaving ends the game for everybody. Leave?")) return;
  if (lobby.status !== "finished") await seat?.leave();
  backHome();
}

function backHome(text = "") {
  history.replaceState(null, "", "/play");
  goHome(text);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const isTyping = event.target instanceof HTMLInputElement;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const choice = ["1", "2", "3", "4"].indexOf(event.key);
  if (choice >= 0 && !el("view-question").hidden) void act(null, () => room.choose(choice));
}

/** @param {string} fragment what the page understands behind its # */
function share(fragment) {
  const code = room.currentRoom()?.game.lobby?.code ?? "";
  void shareLink(`${location.origin}/play#${fragment}${code}`);
}

function readAddress() {
  const code = watchPattern.exec(location.hash)?.[1];
  if (
    code &&
    room.storedSeat.load() &&
    !confirm("You are in a game. Leave it to watch this one?")
  ) {
    history.replaceState(null, "", "/play");
    return false;
  }
  if (code) void act(null, () => watch(lobbyCode(code))).then(showHomeIfNowhere);
  else el("code").value = lobbyCode(location.hash.slice(1));
  return code !== undefined;
}

/** A game that cannot be watched leaves the visitor at the start, with the reason. */
function showHomeIfNowhere() {
  if (room.currentRoom()) return;
  const reason = el("notice-text").textContent ?? "";
  // A link to the same game works again only from another address.
  backHome(reason);
}

function wire() {
  makeChoices((choice) => void act(null, () => room.choose(choice)));
  el("create").addEventListener("submit", (event) => {
    event.preventDefault();
    void act(el("create"), () => create(event.target));
  });
  el("join").addEventListener("submit", (event) => {
    event.preventDefault();
    void act(el("join"), () => joinGame(lobbyCode(el("code").value)));
  });
  for (const id of Object.keys(hostCommands))
    el(id).addEventListener("click", () => void act(el(id), () => command(id)));
  el("leave").addEventListener("click", () => void act(el("leave"), leave));
  el("again").addEventListener("click", () => backHome());
  el("copy-link").addEventListener("click", () => share(""));
  el("copy-watch-link").addEventListener("click", () => share("watch="));
  el("sheet").addEventListener("click", () => void act(el("sheet"), saveSheet));
  window.addEventListener("hashchange", () => {
    const { game } = room.currentRoom() ?? {};
    // Back from a game that was only watched.
    if (!readAddress() && game && isWatching(game)) goHome();
  });
  el("notice-close").addEventListener("click", () => notify(""));
  el("name").addEventListener("input", () => el("name").setCustomValidity(""));
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void room.refresh();
  });
  // A stream that was cut says nothing for a while.
  for (const news of ["online", "offline"]) window.addEventListener(news, () => void lookAround());
  setInterval(room.tick, clockMs);
}

async function lookAround() {
  if (room.currentRoom()) return room.refresh();
  const isThere = await service.lobbies({ deadlineMs: room.readMs }).then(
    () => true,
    () => false,
  );
  if (!room.currentRoom()) showConnection(isThere);
}

async function fillCategories() {
  const categories = await service.categories().catch(() => null);
  if (!categories) return void setTimeout(() => void fillCategories(), retryMs);
  for (const { name } of categories) el("category").append(new Option(readable(name), name));
}

async function saveSheet() {
  const { seat } = room.currentRoom() ?? {};
  if (seat) downloadSheet(seat.code, await seat.resultSheet());
}

/** A service that is out of reach for a moment does not cost the seat. @param {import("./client/emberline.ts").SeatKey} key */
async function comeBack(key) {
  try {
    await enter(service.seat(key));
  } catch (error) {
    const isGone = error instanceof EmberlineError && error.isFinal;
    if (isGone) return goHome("Your last game is no longer there.");
    showConnection(false);
    setTimeout(() => void comeBack(key), retryMs);
  }
}

async function begin() {
  wire();
  el("name").value = storedName.load() ?? "";
  void fillCategories();
  if (readAddress()) return;
  const key = room.storedSeat.load();
  if (!key) return goHome();
  await comeBack(key);
}

void begin();
