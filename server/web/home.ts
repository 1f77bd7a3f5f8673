import { Emberline, EmberlineError, type Health, type StreamState } from "./client/emberline.ts";
import { byId, el, setText } from "./dom.ts";
import { whileSeen } from "./seen.ts";

type Light = "good" | "warn" | "bad" | "unknown";

const pollMs = 5_000;
const timeoutMs = 4_000;
const service = new Emberline();
const rows = new Map<string, { row: HTMLLIElement; detail: HTMLElement }>();

function show(name: string, light: Light, text: string) {
  const { row, detail } = rows.get(name) ?? addRow(name);
  row.className = light;
  // Unchanged text is left alone, so that screen readers do not repeat it every five seconds.
  setText(detail, text);
}

function addRow(name: string) {
  const detail = el("span", {});
  const row = el("li", {}, el("span", { class: "name" }, name), detail);
  const added = { row, detail };
  rows.set(name, added);
  byId("lights").append(row);
  return added;
}

/** Shows the state of the service and its stores; null if Postgres is down. */
function showHealth(health: Health | null) {
  show("Service", "good", `answers; running for ${health?.uptime ?? "a while"}`);
  show("Postgres", health ? "good" : "bad", health ? "reachable" : "unreachable");
  if (!health) return show("Redis", "unknown", "not known while Postgres is away");
  const isDegraded = health.status === "degraded";
  show("Redis", isDegraded ? "bad" : "good", isDegraded ? "unreachable" : "reachable");
  setText("version", health.version);
}

async function poll() {
  try {
    showHealth(await service.health({ deadlineMs: timeoutMs }));
  } catch (error) {
    const status = error instanceof EmberlineError ? error.status : 0;
    if (status === 0) showNothing();
    else if (status >= 500) showHealth(null);
  }
  setTimeout(() => void poll(), pollMs);
}

function showNothing() {
  show("Service", "bad", "does not answer");
  for (const name of ["Postgres", "Redis"]) show(name, "unknown", "not known");
}

/** Subscribes to the public list to check that events arrive. */
async function watchEvents(signal: AbortSignal) {
  const onState = (state: StreamState) => {
    if (state === "lost") show("Live events", "warn", "not connected, trying again");
  };
  for await (const lobbies of service.publicLobbies({ signal, onState }))
    show("Live events", "good", `connected; ${lobbies.length} public lobbies open`);
}

setText("address", location.origin);
setText(
  "try",
  `curl -s -X POST ${location.origin}/v1/gateway/guest -H 'Content-Type: application/json' -d '{}'`,
);
for (const name of ["Service", "Postgres", "Redis", "Live events"]) show(name, "unknown", "…");
whileSeen((signal) => {
  void watchEvents(signal).catch(() => show("Live events", "bad", "refused"));
});
void poll();
