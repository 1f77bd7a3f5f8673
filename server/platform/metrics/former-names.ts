import type { MetricObjectWithValues, MetricValue } from "prom-client";

type AnyMetric = MetricObjectWithValues<MetricValue<string>>;
type Labels = MetricValue<string>["labels"];

/**
 * Names of metrics until 0.1 and what they became. Both are served until the release after the next (BOOT-45). The
 * former ones have no label `role`; `<kind>` stands for a kind of room, which is a label now.
 */
export const formerNames: Readonly<Record<string, string>> = {
  "<kind>_actors": "emberline_rooms",
  "<kind>_commands_total": "emberline_room_commands_total",
  "<kind>_commit_seconds": "emberline_room_commit_duration_seconds",
  "<kind>_forwards_total": "emberline_room_forwards_total",
  "<kind>_shards": "emberline_room_shards",
  archive_cache_total: "emberline_archive_cache_total",
  avatar_verdicts_total: "emberline_avatar_decisions_total",
  board_builds_total: "emberline_leaderboard_builds_total",
  board_turns_total: "emberline_leaderboard_projections_total",
  faults_dropped_total: "emberline_faults_dropped_total",
  faults_total: "emberline_faults_total",
  generated_questions_total: "emberline_generated_questions_total",
  generator_broken: "emberline_generator_circuit_open",
  generator_call_seconds: "emberline_generator_call_duration_seconds",
  generator_calls_total: "emberline_generator_calls_total",
  generator_cost_total: "emberline_generator_cost_total",
  generator_tokens_total: "emberline_generator_tokens_total",
  http_rate_limited_total: "emberline_http_rate_limited_total",
  http_request_seconds: "emberline_http_request_duration_seconds",
  http_requests_total: "emberline_http_requests_total",
  hub_bytes_total: "emberline_hub_written_bytes_total",
  hub_events_total: "emberline_hub_events_total",
  hub_publish_to_write_seconds: "emberline_hub_delivery_lag_duration_seconds",
  hub_ring_bytes: "emberline_hub_replay_buffer_bytes",
  hub_stream_ends_total: "emberline_hub_stream_ends_total",
  hub_stream_opens_total: "emberline_hub_stream_opens_total",
  hub_streams: "emberline_hub_streams",
  jobs_total: "emberline_jobs_total",
  log_dropped_bytes_total: "emberline_log_dropped_bytes_total",
  message_send_seconds: "emberline_message_send_duration_seconds",
  messages_total: "emberline_messages_total",
  process_restarts: "emberline_process_restarts_total",
  queue_jobs: "emberline_queue_jobs",
  store_up: "emberline_store_up",
  wallet_differences: "emberline_wallet_differences",
  wallets_checked_total: "emberline_wallets_checked_total",
};

const kindPart = "<kind>";
/** The former metric whose label `role` is what it counts by. */
const byRole = "process_restarts";
const formerByName = new Map(Object.entries(formerNames).map(([former, name]) => [name, former]));

/** Copies of the metrics under their former names, to be summed with each other: several can have equal labels. */
export const withFormerNames = (metrics: readonly AnyMetric[]): AnyMetric[] =>
  metrics.flatMap((metric) => {
    const former = formerByName.get(metric.name);
    if (former === undefined) return [];
    const kinds = former.startsWith(kindPart) ? kindsIn(metric) : [null];
    return kinds.map((kind) => copyUnder(former, metric, kind));
  });

const kindsIn = ({ values }: AnyMetric): string[] => [
  ...new Set(values.map(({ labels }) => String(labels["kind"]))),
];

function copyUnder(former: string, metric: AnyMetric, kind: string | null): AnyMetric {
  const name = kind === null ? former : former.replace(kindPart, kind);
  const values = metric.values
    .filter(({ labels }) => kind === null || labels["kind"] === kind)
    .map((value) => ({
      ...value,
      labels: formerLabels(former, value.labels, kind),
      ...partNamed(value, metric.name, name),
    }));
  return { ...metric, name, help: `Former name of ${metric.name}`, values };
}

function formerLabels(former: string, labels: Labels, kind: string | null): Labels {
  const { role, ...rest } = labels;
  if (former === byRole) return { role: role === "job" ? "jobs" : role };
  if (kind === null) return rest;
  const { kind: _, ...unnamed } = rest;
  return unnamed;
}

/** Buckets, sum and count of a histogram have names of their own. */
function partNamed(value: object, from: string, to: string): { metricName?: string } {
  const part: unknown = Reflect.get(value, "metricName");
  return typeof part === "string" ? { metricName: to + part.slice(from.length) } : {};
}
