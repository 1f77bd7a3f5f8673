import { Emberline, EmberlineError, lobbyCode } from "../client/emberline.ts";
import type { Guest, Seat, SeatKey, StreamState } from "../client/emberline.ts";
import { byId, el } from "../dom.ts";
import { whileSeen } from "../seen.ts";
import { showConnection } from "./connection.ts";
import { isHost, isWatching } from "./game.ts";
import { forgetSeat, keepSeat, keptSeat, keptSeats, type KeptSeat } from "./kept-seats.ts";
import { notify, readable, showView } from "./parts.ts";
import { makeChoices } from "./question.ts";
import * as room from "./room.ts";
import { downloadSheet, shareLink } from "./share.ts";
import { tabValue } from "./tab.ts";
import { renderOpenGames, renderOwnGames, type OwnGame } from "./views.ts";

const clockMs = 200;
const retryMs = 2_000;
const watchPattern = /^#watch=([^&]+)$/;

const storedName = tabValue<string>("name");
const service = new Emberline({ guest: tabValue<Guest>("guest") });

/** Stops following the list of open games. */
let endListing: (() => void) | null = null;

/** Runs the action of a button: one at a time; a refusal is shown. */
async function act(button: HTMLElement | null, work: () => Promise<unknown>) {
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
  if (isLeaving) byId("home-title").focus();
  void offerOwnGames();
  endListing ??= whileSeen((signal) => void listOpenGames(signal).catch(() => {}));
}

/** Offers the games in which this browser still has a seat, such as that of a closed tab. */
async function offerOwnGames() {
  const found = await Promise.all(keptSeats().map(findOwnGame));
  renderOwnGames(found.filter((game) => game !== null));
}

/** Null without the game or the seat; reading it does not count as a sign of the player. */
async function findOwnGame({ key }: KeptSeat): Promise<OwnGame | null> {
  const seat = service.seat(key);
  const comeBack = () => void act(byId("own-games"), () => enterAgain(seat));
  try {
    const { lobby, player } = await seat.read({ deadlineMs: room.readMs });
    if (player && lobby.status !== "finished") return { lobby, player, comeBack };
    forgetSeat(key);
  } catch (error) {
    // A seat that cannot be read now is offered at the next visit.
    if (error instanceof EmberlineError && error.isFinal) forgetSeat(key);
  }
  return null;
}

/** A game that is over by now is not offered again. */
async function enterAgain(seat: Seat) {
  try {
    await enter(seat);
  } catch (error) {
    void offerOwnGames();
    throw error;
  }
}

async function listOpenGames(signal: AbortSignal) {
  const join = (code: string) => void act(byId("open-games"), () => joinGame(code));
  const onState = (state: StreamState) => {
    if (!signal.aborted && state !== "connecting") showConnection(state === "open");
  };
  const lists = service.publicLobbies({ signal, onState });
  for await (const lobbies of lists) renderOpenGames(lobbies, join);
}

/** The list needs its own connection, and a browser allows few. */
function stopListing() {
  endListing?.();
  endListing = null;
  history.replaceState(null, "", "/play");
}

async function enter(seat: Seat) {
  await room.sitDown(seat, goHome);
  // A removed player is already back at the start.
  if (room.currentRoom()) stopListing();
}

function yourName() {
  const input = byId("name", HTMLInputElement);
  input.setCustomValidity(input.value.trim() === "" ? "Please say who you are." : "");
  if (!input.reportValidity()) return null;
  storedName.save(input.value.trim());
  return input.value.trim();
}

async function joinGame(code: string) {
  const name = yourName();
  if (name === null) return;
  let seat: Seat;
  try {
    seat = await service.join(code, name);
  } catch (refusal) {
    return joinAgain(code, name, refusal);
  }
  // Stored first: if a later step fails, nobody else can take this name.
  keepSeat({ key: seat.key, name });
  await enter(seat);
}

/** The refused player may be the owner of the seat. */
async function joinAgain(code: string, name: string, refusal: unknown) {
  const key = isTaken(refusal) ? keptSeat(code, name) : null;
  if (!key) throw refusal;
  await enter(service.seat(key)).catch((error: unknown) => {
    throw error instanceof EmberlineError && error.isFinal ? refusal : error;
  });
}

/** No seat is free, or not under this name: perhaps because the caller holds it from a closed tab. */
const isTaken = (refusal: unknown) =>
  refusal instanceof EmberlineError &&
  ["lobby:not_accepting_players", "lobby:name_taken", "lobby:full"].includes(refusal.code);

async function create(form: HTMLFormElement) {
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

async function watch(code: string) {
  room.watchFrom(await service.spectate(code), backHome);
  stopListing();
  // After a reload the tab keeps watching.
  history.replaceState(null, "", `/play#watch=${code}`);
}

type HostCommand = (seat: Seat, index: number) => Promise<unknown>;

/** Commands of the host, by button id. */
const hostCommands: Readonly<Record<string, HostCommand>> = {
  start: (seat) => seat.start(),
  lock: (seat, index) => seat.lock(index),
  next: (seat, index) => seat.next(index),
  end: async (seat) => confirm("End the game for everybody?") && seat.end(),
};

async function command(run: HostCommand) {
  const seat = room.currentRoom()?.seat;
  if (seat) await run(seat, seat.lobby?.current_index ?? 0);
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

function onKey(event: KeyboardEvent) {
  const isTyping = event.target instanceof HTMLInputElement;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const choice = ["1", "2", "3", "4"].indexOf(event.key);
  if (choice >= 0 && !byId("view-question").hidden) void act(null, () => room.choose(choice));
}

/** Shares a link; the page interprets the fragment. */
function share(fragment: string) {
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
  else byId("code", HTMLInputElement).value = lobbyCode(location.hash.slice(1));
  return code !== undefined;
}

/** If a game cannot be watched, shows the start page with the reason. */
function showHomeIfNowhere() {
  if (room.currentRoom()) return;
  const reason = byId("notice-text").textContent ?? "";
  // The same link only works again after the address has changed.
  backHome(reason);
}

function wire() {
  makeChoices((choice) => void act(null, () => room.choose(choice)));
  const createForm = byId("create", HTMLFormElement);
  createForm.addEventListener("submit", (event) => {
    event.preventDefault();
    void act(createForm, () => create(createForm));
  });
  byId("join").addEventListener("submit", (event) => {
    event.preventDefault();
    void act(byId("join"), () => joinGame(lobbyCode(byId("code", HTMLInputElement).value)));
  });
  for (const [id, run] of Object.entries(hostCommands))
    byId(id).addEventListener("click", () => void act(byId(id), () => command(run)));
  byId("leave").addEventListener("click", () => void act(byId("leave"), leave));
  byId("again").addEventListener("click", () => backHome());
  byId("copy-link").addEventListener("click", () => share(""));
  byId("copy-watch-link").addEventListener("click", () => share("watch="));
  byId("sheet").addEventListener("click", () => void act(byId("sheet"), saveSheet));
  window.addEventListener("hashchange", () => {
    const { game } = room.currentRoom() ?? {};
    // Returns from a game that was only watched.
    if (!readAddress() && game && isWatching(game)) goHome();
  });
  byId("notice-close").addEventListener("click", () => notify(""));
  const name = byId("name", HTMLInputElement);
  name.addEventListener("input", () => name.setCustomValidity(""));
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void room.refresh();
  });
  // A broken stream is silent for a while.
  for (const news of ["online", "offline"]) window.addEventListener(news, () => void lookAround());
  // A hidden tab has no news of the game, so it can neither show it nor miss a reveal.
  setInterval(() => document.hidden || room.tick(), clockMs);
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
  const options = categories.map(({ name }) => el("option", { value: name }, readable(name)));
  byId("category").append(...options);
}

async function saveSheet() {
  const { seat } = room.currentRoom() ?? {};
  if (seat) downloadSheet(seat.code, await seat.resultSheet());
}

/** A temporary outage must not cost the seat. */
async function comeBack(key: SeatKey) {
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
  byId("name", HTMLInputElement).value = storedName.load() ?? "";
  void fillCategories();
  if (readAddress()) return;
  const key = room.storedSeat.load();
  if (!key) return goHome();
  await comeBack(key);
}

void begin();
