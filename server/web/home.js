import { Emberline } from "/client/emberline.js";
import { whileSeen } from "./seen.js";

/** @typedef {"good" | "warn" | "bad" | "unknown"} Light */

const pollMs = 5_000;
const timeoutMs = 4_000;
const list = document.getElementById("lights");
/** @type {Map<string, HTMLLIElement>} */
const rows = new Map();

/** @param {string} name @param {Light} light @param {string} text */
function show(name, light, text) {
  const row = rows.get(name) ?? addRow(name);
  row.className = light;
  const detail = row.lastElementChild;
  // Unchanged text is left alone, so that screen readers are not told the same every five seconds.
  if (detail && detail.textContent !== text) detail.textContent = text;
}

/** @param {string} name */
function addRow(name) {
  const row = document.createElement("li");
  const label = document.createElement("span");
  label.className = "name";
  label.textContent = name;
  row.append(label, document.createElement("span"));
  rows.set(name, row);
  list?.append(row);
  return row;
}

/** What a health answer says about the service and its stores. @param {number} status @param {any} answer */
function showHealth(status, answer) {
  const isDatabaseLost = status >= 500;
  const isDegraded = answer?.body?.status === "degraded";
  show("Service", "good", `answers; running for ${answer?.body?.uptime ?? "a while"}`);
  show("Postgres", isDatabaseLost ? "bad" : "good", isDatabaseLost ? "unreachable" : "reachable");
  if (isDatabaseLost) show("Redis", "unknown", "not known while Postgres is away");
  else show("Redis", isDegraded ? "bad" : "good", isDegraded ? "unreachable" : "reachable");
  const version = document.getElementById("version");
  if (version && typeof answer?.version === "string") version.textContent = answer.version;
}

async function poll() {
  try {
    const response = await fetch("/v1/health-check", {
      cache: "no-store",
      signal: AbortSignal.timeout(timeoutMs),
    });
    showHealth(response.status, await response.json());
  } catch {
    show("Service", "bad", "does not answer");
    for (const name of ["Postgres", "Redis"]) show(name, "unknown", "not known");
  }
  setTimeout(poll, pollMs);
}

const address = document.getElementById("address");
if (address) address.textContent = location.origin;
const example = document.getElementById("try");
if (example)
  example.textContent = `curl -s -X POST ${location.origin}/v1/gateway/guest -H 'Content-Type: application/json' -d '{}'`;

for (const name of ["Service", "Postgres", "Redis", "Live events"]) show(name, "unknown", "…");
/** The public list tells whether events arrive. @param {AbortSignal} signal */
async function watchEvents(signal) {
  const lost = () => show("Live events", "warn", "not connected, trying again");
  /** @param {string} state */
  const onState = (state) => state === "lost" && lost();
  for await (const lobbies of new Emberline().publicLobbies({ signal, onState }))
    show("Live events", "good", `connected; ${lobbies.length} public lobbies open`);
}

whileSeen((signal) => {
  void watchEvents(signal).catch(() => show("Live events", "bad", "refused"));
});
void poll();
