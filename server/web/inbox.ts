import type { Inbox } from "./generated/answers.ts";
import { Emberline } from "./client/emberline.ts";
import { byId, el, setText } from "./dom.ts";

type Message = Inbox["messages"][number];

const pollMs = 2_000;
const timeoutMs = 4_000;
const copiedMs = 1_500;
const list = byId("messages");
const service = new Emberline({ accessToken: () => null });
/** Rendered messages; an unchanged one is left alone, including its open preview. */
const shown = new Map<number, { item: HTMLElement; facts: string }>();

function copyButton(value: string, what: string) {
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = `Copy ${what}`), copiedMs);
  };
  const button = el("button", { type: "button", onclick: () => void copy() }, `Copy ${what}`);
  return button;
}

function codeRow(code: string) {
  return el("p", { class: "copy" }, el("span", { class: "code" }, code), copyButton(code, "code"));
}

function linkRow(address: string) {
  const href = /^https?:\/\//.test(address) ? address : null;
  const link = el("a", { href, rel: "noreferrer" }, address);
  return el("p", { class: "copy" }, link, copyButton(address, "link"));
}

function preview({ id }: Message) {
  const load = () => {
    if (!box.open || box.querySelector("iframe")) return;
    const src = `/inbox/messages/${id}/html`;
    box.append(el("iframe", { sandbox: "", title: "The mail as HTML", src }));
  };
  const box = el("details", { ontoggle: load }, el("summary", {}, "As HTML"));
  return box;
}

function toItem(message: Message) {
  const failure = message.last_error === null ? "" : ` (${message.last_error})`;
  const time = new Date(message.created_at).toLocaleTimeString();
  const facts = `${message.kind} to ${message.to}, ${time}, ${message.status}${failure}`;
  return el(
    "li",
    { class: "card" },
    el("h2", {}, message.subject ?? message.template),
    el("p", { class: "facts quiet" }, facts),
    message.code === null ? null : codeRow(message.code),
    message.links.map(linkRow),
    message.text === null ? null : el("p", { class: "text" }, message.text),
    message.html === null ? null : preview(message),
  );
}

/** Shows the messages, newest first. */
function show(messages: readonly Message[]) {
  for (const message of [...messages].reverse()) {
    const facts = JSON.stringify(message);
    const known = shown.get(message.id);
    if (known?.facts === facts) continue;
    const item = toItem(message);
    if (known) known.item.replaceWith(item);
    else list.prepend(item);
    shown.set(message.id, { item, facts });
  }
  const present = new Set(messages.map(({ id }) => id));
  for (const [id, { item }] of shown)
    if (!present.has(id)) {
      item.remove();
      shown.delete(id);
    }
}

async function poll() {
  try {
    const options = { once: true, deadlineMs: timeoutMs };
    const { messages } = await service.call<Inbox>("GET", "/inbox/messages", options);
    show(messages);
    setText("state", messages.length === 0 ? "Nothing was sent yet." : "");
  } catch {
    setText("state", "The service does not answer; trying again.");
  }
  setTimeout(() => void poll(), pollMs);
}

void poll();
