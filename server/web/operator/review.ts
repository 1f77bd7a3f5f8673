// The review of pictures by keyboard. Without this script the buttons send their forms, and the page is loaded again.

/** A decision that can be taken back while nobody has decided again. */
interface Decision {
  /** Address of the upload. */
  path: string;
  /** Of the upload after the decision. */
  version: string;
  text: string;
}

const stored = "operator:decisions";
const maxDecisions = 50;
const timeoutMs = 10_000;
const decisions: Decision[] = readDecisions();
/** Entries that were decided on this page, and what holds their places. */
const removed = new Map<string, { entry: HTMLElement; place: Comment }>();
const notice = document.querySelector("[role=status]");
const keys = document.querySelector<HTMLElement>(".keys");
let isBusy = false;

const entries = () => [...document.querySelectorAll<HTMLElement>("section")];
/** The marked entry, or else the first one. */
const current = () => document.querySelector<HTMLElement>("section.current") ?? entries()[0];

if (keys) start(keys);

function start(shown: HTMLElement) {
  shown.hidden = false;
  const linked = document.getElementById(location.hash.slice(1));
  mark(entries().find((entry) => entry === linked) ?? current());
  sayLast();
  document.addEventListener("keydown", onKey);
  document.addEventListener("submit", (event) => {
    const { target } = event;
    const entry = target instanceof HTMLFormElement ? target.closest("section") : null;
    if (entry === null) return;
    event.preventDefault();
    void decide(entry, target as HTMLFormElement);
  });
  // A click or the Tab key moves on as well.
  document.addEventListener("focusin", ({ target }) => {
    const entry = target instanceof Element ? target.closest("section") : null;
    if (entry) show(entry);
  });
}

function onKey(event: KeyboardEvent) {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (isField(target)) {
    if (key === "Escape") mark(current());
    return;
  }
  const act = actOf(key);
  if (act === null) return;
  event.preventDefault();
  act();
}

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input, textarea, select"));

function actOf(key: string): (() => void) | null {
  if (key === "j") return () => move(1);
  if (key === "k") return () => move(-1);
  if (key === "u") return () => void undoLast();
  if (key === "a") return () => formOf("approve")?.requestSubmit();
  if (key === "r") return () => reasonField()?.focus();
  const reason = reasonAt(Number(key));
  return reason === null ? null : () => rejectFor(reason);
}

const formOf = (verb: string) =>
  current()?.querySelector<HTMLFormElement>(`form[action$="/${verb}"]`) ?? null;
const reasonField = () => formOf("reject")?.querySelector<HTMLInputElement>("[name=reason]");

/** The listed reason of a digit. */
const reasonAt = (place: number) =>
  document.querySelector(`.keys li:nth-of-type(${place || 0})`)?.textContent?.trim() ?? null;

function rejectFor(reason: string) {
  const field = reasonField();
  if (!field) return;
  field.value = reason;
  formOf("reject")?.requestSubmit();
}

function move(by: number) {
  const all = entries();
  const at = all.findIndex((entry) => entry === current());
  mark(all[Math.min(Math.max(at + by, 0), all.length - 1)]);
}

/** Makes an entry the one that keys decide, and gives it the focus, which scrolls to it. */
function mark(entry: HTMLElement | undefined) {
  if (!entry) return;
  show(entry);
  entry.tabIndex = -1;
  entry.focus();
}

function show(entry: Element) {
  for (const other of entries()) other.classList.toggle("current", other === entry);
}

/** Sends what the form would send, and removes the entry from the list. */
async function decide(entry: HTMLElement, form: HTMLFormElement) {
  const fields = new FormData(form);
  const version = await send(form.action, {
    seen: String(fields.get("seen")),
    ...(fields.has("reason") ? { reason: String(fields.get("reason")) } : {}),
  });
  if (version === null) return;
  const [path = "", verb = ""] = /^(.*)\/(\w+)$/.exec(form.action)?.slice(1) ?? [];
  const text = `${nameOf(entry)}: ${doneOf(verb)}.`;
  if (verb === "undo") forget(path);
  else remember({ path, version, text });
  leave(entry, path);
  if (verb === "undo") say(text);
  else sayLast();
}

const doneOf = (verb: string) =>
  ({ approve: "approved", reject: "rejected" })[verb] ?? "decision taken back";
const nameOf = (entry: HTMLElement) =>
  entry.querySelector("h2")?.textContent?.split(",")[0] ?? "Upload";

function leave(entry: HTMLElement, path: string) {
  const all = entries();
  const next = all[all.indexOf(entry) + 1] ?? all[all.indexOf(entry) - 1];
  const place = document.createComment("");
  entry.replaceWith(place);
  removed.set(path, { entry, place });
  if (next) return mark(next);
  // The same address shows the entries that follow.
  history.replaceState(null, "", location.pathname + location.search);
  location.reload();
}

/** Takes the last decision back, unless somebody has decided about the same picture since. */
async function undoLast() {
  const last = decisions.at(-1);
  if (!last) return say("There is no decision to take back.");
  const version = await send(`${last.path}/undo`, { seen: last.version });
  if (version === null) return;
  forget(last.path);
  say(`${last.text} Taken back.`);
  const kept = removed.get(last.path);
  removed.delete(last.path);
  // It was decided before the page was loaded.
  if (!kept) return location.reload();
  const { entry, place } = kept;
  place.replaceWith(entry);
  for (const field of entry.querySelectorAll<HTMLInputElement>("[name=seen]"))
    field.value = version;
  for (const field of entry.querySelectorAll<HTMLInputElement>("[name=reason]")) field.value = "";
  mark(entry);
}

/** The version of the upload after the change; null if it was refused, which the page then says. */
async function send(action: string, body: object): Promise<string | null> {
  if (isBusy) return null;
  isBusy = true;
  try {
    const answer = await fetch(action, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { body: done, flash } = (await answer.json()) as Answer;
    if (answer.ok && done) return done.upload.version;
    say(flash?.errors[0]?.message ?? `The service answered ${answer.status}.`);
  } catch {
    say("No response; look at the list again.");
  } finally {
    isBusy = false;
  }
  return null;
}

interface Answer {
  body?: { upload: { version: string } };
  flash?: { errors: { message: string }[] };
}

function remember(decision: Decision) {
  decisions.push(decision);
  if (decisions.length > maxDecisions) decisions.shift();
  storeDecisions();
}

function forget(path: string) {
  const at = decisions.map((decision) => decision.path).lastIndexOf(path);
  if (at >= 0) decisions.splice(at, 1);
  storeDecisions();
}

/** A browser may refuse storage: the decisions are then known until the next page. */
function storeDecisions() {
  try {
    sessionStorage.setItem(stored, JSON.stringify(decisions));
  } catch {
    return;
  }
}

function readDecisions(): Decision[] {
  try {
    return JSON.parse(sessionStorage.getItem(stored) ?? "[]") as Decision[];
  } catch {
    return [];
  }
}

function sayLast() {
  const last = decisions.at(-1);
  if (last) say(`${last.text} Key u takes it back.`);
}

function say(text: string) {
  if (notice) notice.textContent = text;
}
