/** @typedef {{id: number, kind: string, template: string, to: string, status: string, last_error: string | null, subject: string | null, text: string | null, html: string | null, code: string | null, links: string[], created_at: string}} Message */

const pollMs = 2_000;
const timeoutMs = 4_000;
const copiedMs = 1_500;
const list = /** @type {HTMLElement} */ (document.getElementById("messages"));
const state = /** @type {HTMLElement} */ (document.getElementById("state"));
/** What is shown of each message; an unchanged one is left alone, with its open preview. @type {Map<number, {item: HTMLElement, facts: string}>} */
const shown = new Map();

/** Texts of messages only ever become text nodes. @param {string} tag @param {string} text @param {string} [name] */
function make(tag, text, name = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = name;
  return node;
}

/** @param {string} value @param {string} what */
function copyButton(value, what) {
  const button = /** @type {HTMLButtonElement} */ (make("button", `Copy ${what}`));
  button.type = "button";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(value);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = `Copy ${what}`), copiedMs);
  });
  return button;
}

/** @param {string} code */
function codeRow(code) {
  const row = make("p", "", "copy");
  row.append(make("span", code, "code"), copyButton(code, "code"));
  return row;
}

/** @param {string} address */
function linkRow(address) {
  const row = make("p", "", "copy");
  const link = /** @type {HTMLAnchorElement} */ (make("a", address));
  if (/^https?:\/\//.test(address)) link.href = address;
  link.rel = "noreferrer";
  row.append(link, copyButton(address, "link"));
  return row;
}

/** @param {Message} message */
function preview(message) {
  const box = document.createElement("details");
  box.append(make("summary", "As HTML"));
  box.addEventListener("toggle", () => {
    if (!box.open || box.querySelector("iframe")) return;
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "");
    frame.title = "The mail as HTML";
    frame.src = `/inbox/messages/${message.id}/html`;
    box.append(frame);
  });
  return box;
}

/** @param {Message} message */
function toItem(message) {
  const item = make("li", "", "card");
  const failure = message.last_error === null ? "" : ` (${message.last_error})`;
  const time = new Date(message.created_at).toLocaleTimeString();
  const facts = `${message.kind} to ${message.to}, ${time}, ${message.status}${failure}`;
  item.append(make("h2", message.subject ?? message.template), make("p", facts, "facts quiet"));
  if (message.code !== null) item.append(codeRow(message.code));
  for (const address of message.links) item.append(linkRow(address));
  if (message.text !== null) item.append(make("p", message.text, "text"));
  if (message.html !== null) item.append(preview(message));
  return item;
}

/** @param {Message[]} messages newest first */
function show(messages) {
  for (const message of messages.toReversed()) {
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

/** @param {string} text */
function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

async function poll() {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch("/inbox/messages", { cache: "no-store", signal });
    const { body } = await response.json();
    show(body.messages);
    say(body.messages.length === 0 ? "Nothing was sent yet." : "");
  } catch {
    say("The service does not answer; trying again.");
  }
  setTimeout(poll, pollMs);
}

void poll();
