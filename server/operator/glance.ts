import type { MetricObjectWithValues, MetricValue } from "prom-client";
import { mostCounted } from "./avatar-desk.ts";
import { readiness } from "./processes.ts";
import type { Sources, Totals } from "./sources.ts";

/** One line of the start page. */
export interface Figure {
  name: string;
  value: string;
  /** Somebody has to look at it. */
  isBad: boolean;
}

interface Look {
  at: number;
  totals: Totals;
}

/** Milliseconds that a rate is taken over at least, however many people look. */
const leastSpanMs = 5_000;
/** A look so long ago says nothing of now. */
const mostSpanMs = 60_000;

/** What the metrics of all processes add up to. */
export function totalsOf(metrics: readonly MetricObjectWithValues<MetricValue<string>>[]): Totals {
  const sum = (name: string, isMeant = (_: MetricValue<string>) => true) => {
    const values = metrics.find((metric) => metric.name === name)?.values ?? [];
    return values.filter(isMeant).reduce((total, { value }) => total + value, 0);
  };
  return {
    requests: sum("http_requests_total"),
    failures: sum("http_requests_total", ({ labels }) => Number(labels["status"]) >= 500),
    commands: sum("lobby_commands_total"),
    lobbies: sum("lobby_actors"),
    streams: sum("hub_streams"),
  };
}

/**
 * What an operator wants to know first. A rate is that since an earlier look, so the first one has none.
 * `now` is in milliseconds.
 */
export function createGlance(
  sources: Pick<Sources, "totals" | "processes" | "stores" | "moderators" | "waitingPictures">,
  now: () => number,
): () => Promise<Figure[]> {
  let before: Look | null = null;
  let latest: Look | null = null;

  return async () => {
    const [state, totals, pictures] = await Promise.all([
      readiness(sources),
      sources.totals(),
      sources.waitingPictures(),
    ]);
    const look = { at: now(), totals };
    const spanMs = latest === null ? Infinity : look.at - latest.at;
    if (spanMs >= leastSpanMs) {
      before = spanMs > mostSpanMs ? null : latest;
      latest = look;
    }
    const base = before;
    const perSecond = (key: keyof Totals) => {
      if (base === null) return `${totals[key]} since the start`;
      // A process that was started anew has counted less.
      const count = Math.max(0, totals[key] - base.totals[key]);
      return `${((count * 1_000) / (look.at - base.at)).toFixed(1)} per second`;
    };
    const isReady = state.status === "ok";
    const missing = state.missing_stores.map((name) => `${name} does not answer`);
    const readOnly = state.read_only_stores.map((name) => `${name} takes no writes`);
    const starting =
      state.num_waiting > 0 ? [`processes that are starting: ${state.num_waiting}`] : [];
    return [
      {
        name: "Service",
        value: isReady ? "ready" : ["not ready", ...missing, ...readOnly, ...starting].join("; "),
        isBad: !isReady,
      },
      { name: "Requests", value: perSecond("requests"), isBad: false },
      {
        name: "Answers of 500 and above",
        value: perSecond("failures"),
        isBad: base !== null && totals.failures > base.totals.failures,
      },
      { name: "Lobby commands", value: perSecond("commands"), isBad: false },
      { name: "Lobbies in memory", value: String(totals.lobbies), isBad: false },
      { name: "Event streams", value: String(totals.streams), isBad: false },
      { name: "Pictures to be looked at", value: countOf(pictures), isBad: false },
    ];
  };
}

function countOf(pictures: number | null): string {
  if (pictures === null) return "unknown";
  return pictures < mostCounted ? String(pictures) : `${mostCounted} or more`;
}
