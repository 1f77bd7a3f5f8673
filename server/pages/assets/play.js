import {
  ApiError,
  createIdentity,
  createLobby,
  joinLobby,
  readCategories,
  watchPublicList,
} from "./client.js";
import { el, readable, setText, showView } from "./dom.js";
import { isHost } from "./game.js";
import { makeChoices } from "./question.js";
import { choose, currentSeat, refresh, show, sitDown, standUp, storedSeat, tick } from "./room.js";
import { tabValue } from "./tab.js";
import { renderOpenGames } from "./views.js";

const clockMs = 200;
const retryMs = 2_000;

const storedName = tabValue("name");
const identity = createIdentity(tabValue("guest"));

/** @type {(() => void) | null} */
let stopList = null;
/** @param {string} text */
function notify(text) {
  el("notice").hidden = text === "";
  setText("notice-text", text);
}

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
    if (!(error instanceof ApiError)) throw error;
    notify(error.message);
    if (["lobby:token_invalid", "lobby:player_not_found"].includes(error.code))
      goHome(error.message);
  } finally {
    button?.removeAttribute("aria-busy");
  }
}

function goHome(text = "") {
  standUp();
  showView("home");
  notify(text);
  stopList ??= watchPublicList(
    (lobbies) => renderOpenGames(lobbies, (code) => void act(null, () => join(code))),
    () => {},
  );
}

/** @param {import("./client.js").SeatKey} key @param {import("./client.js").Lobby | null} lobby */
async function enter(key, lobby) {
  await sitDown(key, lobby, goHome);
  stopList?.();
  stopList = null;
  history.replaceState(null, "", "/play");
}

function yourName() {
  const input = el("name");
  input.setCustomValidity(input.value.trim() === "" ? "Please say who you are." : "");
  if (!input.reportValidity()) return null;
  storedName.save(input.value.trim());
  return input.value.trim();
}

/** @param {string} code */
async function join(code) {
  const name = yourName();
  if (name === null) return;
  const { seat } = await joinLobby(identity, code.toUpperCase(), name);
  await enter(seat, null);
}

/** @param {HTMLFormElement} form */
async function create(form) {
  const name = yourName();
  if (name === null) return;
  const fields = new FormData(form);
  const { seat, lobby } = await createLobby(identity, {
    hostName: name,
    mode: fields.get("mode"),
    numQuestions: Number(fields.get("questions")),
    timer: Number(fields.get("timer")),
    category: fields.get("category") || null,
    visibility: fields.get("public") ? "public" : "private",
  });
  await enter(seat, lobby);
}

/** Commands of the host's buttons and what they answer. @type {Record<string, (index: number) => Promise<any>>} */
const hostCommands = {
  start: () => currentSeat()?.calls.start(),
  lock: (index) => currentSeat()?.calls.lock(index),
  next: (index) => currentSeat()?.calls.next(index),
  end: async () =>
    confirm("End the game for everybody?") ? currentSeat()?.calls.end() : { lobby: null },
};

async function leave() {
  const seat = currentSeat();
  const lobby = seat?.game.lobby;
  if (!seat || !lobby) return goHome();
  const ends = isHost(seat.game) && lobby.status !== "finished";
  if (ends && !confirm("You are the host: leaving ends the game for everybody. Leave?")) return;
  if (lobby.status !== "finished") await seat.calls.leave();
  goHome();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const isTyping = event.target instanceof HTMLInputElement;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const choice = ["1", "2", "3", "4"].indexOf(event.key);
  if (choice >= 0 && !el("view-question").hidden) void act(null, () => choose(choice));
}

async function copyLink() {
  const link = `${location.origin}/play#${currentSeat()?.key.code}`;
  // Without https the clipboard is out of reach; then the link is shown to be copied by hand.
  if (!navigator.clipboard) return prompt("Copy this link", link);
  await navigator.clipboard.writeText(link).then(
    () => setText("copy-link", "Copied"),
    () => prompt("Copy this link", link),
  );
}

function wire() {
  makeChoices((choice) => void act(null, () => choose(choice)));
  el("create").addEventListener("submit", (event) => {
    event.preventDefault();
    void act(el("create"), () => create(event.target));
  });
  el("join").addEventListener("submit", (event) => {
    event.preventDefault();
    void act(el("join"), () => join(el("code").value));
  });
  for (const [id, command] of Object.entries(hostCommands))
    el(id).addEventListener("click", () => {
      const index = currentSeat()?.game.lobby?.current_index ?? 0;
      void act(el(id), async () => show((await command(index)).lobby));
    });
  el("leave").addEventListener("click", () => void act(el("leave"), leave));
  el("again").addEventListener("click", () => goHome());
  el("copy-link").addEventListener("click", () => void copyLink());
  el("notice-close").addEventListener("click", () => notify(""));
  el("name").addEventListener("input", () => el("name").setCustomValidity(""));
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void refresh();
  });
  window.addEventListener("online", () => void refresh());
  setInterval(tick, clockMs);
}

async function fillCategories() {
  const categories = await readCategories().catch(() => []);
  for (const { name } of categories) el("category").append(new Option(readable(name), name));
}

/** A service that is out of reach for a moment does not cost the seat. @param {import("./client.js").SeatKey} key */
async function comeBack(key) {
  try {
    await enter(key, null);
  } catch (error) {
    const isGone = error instanceof ApiError && [401, 404].includes(error.status);
    if (isGone) return goHome("Your last game is no longer there.");
    el("connection").hidden = false;
    setTimeout(() => void comeBack(key), retryMs);
  }
}

async function begin() {
  wire();
  el("name").value = storedName.load() ?? "";
  el("code").value = location.hash.slice(1, 7).toUpperCase();
  void fillCategories();
  const key = storedSeat.load();
  if (!key) return goHome();
  await comeBack(key);
}

void begin();
