import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { formerNames } from "../../server/platform/metrics/former-names.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { serviceVersion } from "../../server/platform/version.ts";
import { createLobby, newPlayer } from "../support/player.ts";
import { eventually } from "../support/eventually.ts";
import { sharedService } from "../support/process.ts";
import { scrape, seriesOf, type Sample } from "../support/scrape.ts";

/** Sums over everything but these labels, by the series that remain. */
function sumsOf(samples: readonly Sample[], name: string, dropped: readonly string[]) {
  const sums = new Map<string, number>();
  for (const sample of samples) {
    const part = /^(.+?)(_bucket|_sum|_count)?$/.exec(sample.name);
    if (sample.name !== name && part?.[1] !== name) continue;
    const labels = Object.fromEntries(
      Object.entries(sample.labels).filter(([label]) => !dropped.includes(label)),
    );
    const series = seriesOf({ name: sample.name.slice(name.length), labels });
    sums.set(series, (sums.get(series) ?? 0) + sample.value);
  }
  return Object.fromEntries([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Seconds are sums of fractions, whose order differs. */
const rounded = (sums: Record<string, number>) =>
  Object.fromEntries(Object.entries(sums).map(([series, sum]) => [series, sum.toFixed(6)]));

describe("the metrics of a running service", () => {
  let samples: Sample[];
  before(async () => {
    const service = await sharedService();
    const host = await newPlayer(service.url, "Ada");
    await createLobby(host, { category: "science", visibility: "private" });
    const hasAll = () => ["http", "job", "operator", "primary"].every(isRole);
    const isRole = (role: string) => samples.some(({ labels }) => labels["role"] === role);
    // A process that answers late on a busy machine is missing in one scrape.
    await eventually("all processes report", async () => {
      samples = await scrape(service);
      return hasAll();
    });
  });

  const valuesOf = (name: string) => samples.filter((sample) => sample.name === name);

  it("have every former name, with the same values", () => {
    for (const [former, name] of Object.entries(formerNames)) {
      const isOfKind = former.startsWith("<kind>");
      const dropped = former === "process_restarts" ? [] : ["role", ...(isOfKind ? ["kind"] : [])];
      const present = isOfKind
        ? samples.filter(({ labels }) => labels["kind"] === "lobby")
        : samples;
      const expected = rounded(sumsOf(present, name, dropped));
      const served = sumsOf(samples, former.replace("<kind>", "lobby"), []);
      if (former === "process_restarts") {
        assert.equal(served['{role="jobs"}'], sumsOf(samples, name, [])['{role="job"}']);
      } else assert.deepEqual(rounded(served), expected, `${former} of ${name}`);
    }
    assert.ok(valuesOf("lobby_commands_total").some(({ value }) => value > 0));
  });

  it("have the metrics of every process, by role", () => {
    for (const name of ["process_resident_memory_bytes", "process_start_time_seconds"])
      assert.deepEqual(
        valuesOf(name)
          .map(({ labels }) => labels["role"])
          .toSorted(),
        ["http", "job", "operator", "primary"],
      );
    const lags = valuesOf("emberline_event_loop_lag_duration_seconds_count");
    assert.equal(lags.length, 4);
  });

  it("name the build", () => {
    const builds = valuesOf("emberline_build_info");
    assert.deepEqual(
      builds.map(({ value, labels }) => [value, labels["version"]]),
      Array.from({ length: 4 }, () => [1, serviceVersion]),
    );
    assert.match(builds[0]?.labels["commit"] ?? "", /^([0-9a-f]{40}(-dirty)?|unknown)$/);
  });

  it("begin the counters that rare events raise at zero", () => {
    const zeros = (name: string, label: string) =>
      new Set(valuesOf(name).map(({ labels }) => labels[label]));
    assert.deepEqual(
      zeros("emberline_room_shard_takeovers_total", "cause"),
      new Set(["exited", "frozen", "recovered"]),
    );
    assert.deepEqual(
      zeros("emberline_room_shard_handoffs_total", "cause"),
      new Set(["drained", "rebalanced"]),
    );
    assert.ok(zeros("emberline_room_commits_total", "outcome").has("fenced"));
  });

  it("have the waits and times of a command", () => {
    for (const name of ["command_duration", "mailbox_wait_duration", "commit_duration"]) {
      const [count] = valuesOf(`emberline_room_${name}_seconds_count`);
      assert.ok((count?.value ?? 0) > 0, name);
    }
    assert.ok(valuesOf("emberline_postgres_pool_connections").some(({ value }) => value > 0));
    assert.ok(valuesOf("emberline_redis_reconnects_total").length > 0);
  });

  it("have no label with a value of a player, a room or a path", () => {
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    const bounded = createMetrics("http")
      .registry.getMetricsAsArray()
      .flatMap((metric) => Reflect.get(metric, "labelNames") as string[]);
    const unknown = [...labels].filter((label) => !["le", "role", ...bounded].includes(label));
    assert.deepEqual(unknown, []);
    for (const { labels: of } of valuesOf("emberline_http_requests_total"))
      assert.ok(!/\/\d|\/[A-Z]{6}/.test(of["route"] ?? ""), of["route"]);
  });
});
