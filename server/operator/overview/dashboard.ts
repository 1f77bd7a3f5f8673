import type { MetricValue } from "prom-client";
import type { Static } from "typebox";
import { mostCounted } from "../../features/avatars/domain/avatar-service.ts";
import type { MetricsOfProcess } from "../../platform/metrics/report.ts";
import type { Health } from "../health/health.ts";

/** Sums over all processes; counting restarts with the operator process. */
export interface Totals {
  requests: number;
  /** Responses with status 500 or above. */
  failures: number;
  /** To rooms of every kind. */
  commands: number;
  /** In memory, of every kind. */
  rooms: number;
  streams: number;
}

export interface DashboardSources {
  totals(): Promise<Totals>;
  /** Pictures waiting for a decision, up to `mostCounted`; null if the database does not respond. */
  waitingPictures(): Promise<number | null>;
}

/** One line of the start page. */
export interface Stat {
  name: string;
  value: string;
  /** True if an operator has to act. */
  isBad: boolean;
}

interface Sample {
  at: number;
  totals: Totals;
}

/** Minimum time between the two samples of a rate, in milliseconds. */
const leastSpanMs = 5_000;
/** An older sample is ignored. */
const mostSpanMs = 60_000;

const names = {
  requests: "emberline_http_requests_total",
  commands: "emberline_room_commands_total",
  rooms: "emberline_rooms",
  streams: "emberline_hub_streams",
};

/** Metrics whose sums are shown: an open overview must not collect all others each time. */
export const totalled: readonly string[] = Object.values(names);

/** Sums of the metrics of all processes. */
export function totalsOf(metrics: MetricsOfProcess): Totals {
  const sum = (wanted: string, isMeant = (_: MetricValue<string>) => true) =>
    metrics
      .filter(({ name }) => name === wanted)
      .flatMap(({ values }) => values)
      .filter(isMeant)
      .reduce((total, { value }) => total + value, 0);
  return {
    requests: sum(names.requests),
    failures: sum(names.requests, ({ labels }) => Number(labels["status"]) >= 500),
    commands: sum(names.commands),
    rooms: sum(names.rooms),
    streams: sum(names.streams),
  };
}

/**
 * The stats of the start page. A rate needs an earlier sample, so the first page has none.
 * `now` is in milliseconds.
 */
export function createDashboard(
  sources: DashboardSources,
  now: () => number,
): (health: Promise<Static<typeof Health>>) => Promise<Stat[]> {
  let before: Sample | null = null;
  let latest: Sample | null = null;

  return async (health) => {
    const [state, totals, pictures] = await Promise.all([
      health,
      sources.totals(),
      sources.waitingPictures(),
    ]);
    const sample = { at: now(), totals };
    const spanMs = latest === null ? Infinity : sample.at - latest.at;
    if (spanMs >= leastSpanMs) {
      before = spanMs > mostSpanMs ? null : latest;
      latest = sample;
    }
    const base = before;
    const perSecond = (key: keyof Totals) => {
      if (base === null) return `${totals[key]} since the start`;
      // A restarted process has a lower count.
      const count = Math.max(0, totals[key] - base.totals[key]);
      return `${((count * 1_000) / (sample.at - base.at)).toFixed(1)} per second`;
    };
    const isReady = state.status === "ok";
    const missing = state.missing_stores.map((name) => `${name} does not respond`);
    const readOnly = state.read_only_stores.map((name) => `${name} refuses writes`);
    const starting = state.num_waiting > 0 ? [`starting processes: ${state.num_waiting}`] : [];
    return [
      {
        name: "Service",
        value: isReady ? "ready" : ["not ready", ...missing, ...readOnly, ...starting].join("; "),
        isBad: !isReady,
      },
      { name: "Requests", value: perSecond("requests"), isBad: false },
      {
        name: "Responses with status 500 or above",
        value: perSecond("failures"),
        isBad: base !== null && totals.failures > base.totals.failures,
      },
      { name: "Room commands", value: perSecond("commands"), isBad: false },
      { name: "Rooms in memory", value: String(totals.rooms), isBad: false },
      { name: "Event streams", value: String(totals.streams), isBad: false },
      { name: "Pictures to review", value: countOf(pictures), isBad: false },
    ];
  };
}

function countOf(pictures: number | null): string {
  if (pictures === null) return "unknown";
  return pictures < mostCounted ? String(pictures) : `${mostCounted} or more`;
}
