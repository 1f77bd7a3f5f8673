import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AggregatorRegistry } from "prom-client";
import { withFormerNames } from "../../../../server/platform/metrics/former-names.ts";
import { createMetrics } from "../../../../server/platform/metrics/metrics.ts";

/** The lines of two HTTP workers and a job worker that begin with a name. */
async function scrape(name: string): Promise<string[]> {
  const processes = (["http", "http", "job"] as const).map((role) => createMetrics(role));
  for (const metrics of processes) {
    const lobbies = metrics.rooms("lobby");
    metrics.rooms("chess").inMemory.set(1);
    lobbies.inMemory.set(2);
    lobbies.command("pick", "ok").inc(3);
    lobbies.commitSeconds.observe(0.004);
    metrics.hubBytes.inc(10);
    metrics.generatorBroken.set(1);
    metrics.processRestarts.inc({ role: "job" }, 4);
  }
  const all = await Promise.all(processes.map(({ registry }) => registry.getMetricsAsJSON()));
  const text = await AggregatorRegistry.aggregate([...all, ...all.map(withFormerNames)]).metrics();
  return text.split("\n").filter((line) => line.startsWith(name));
}

describe("a former name of a metric", () => {
  it("is summed over all roles", async () => {
    assert.deepEqual(await scrape("emberline_hub_written_bytes_total"), [
      'emberline_hub_written_bytes_total{role="http"} 20',
      'emberline_hub_written_bytes_total{role="job"} 10',
    ]);
    assert.deepEqual(await scrape("hub_bytes_total"), ["hub_bytes_total 30"]);
  });

  it("begins with the kind of room that the present name has as a label", async () => {
    assert.deepEqual(await scrape("lobby_actors"), ["lobby_actors 6"]);
    assert.deepEqual(await scrape("chess_actors"), ["chess_actors 3"]);
    assert.deepEqual(await scrape("lobby_commands_total"), [
      'lobby_commands_total{type="pick",outcome="ok"} 9',
    ]);
  });

  it("has the parts of a histogram, and the bounds that it had", async () => {
    const parts = await scrape("lobby_commit_seconds");
    for (const part of ['bucket{le="0.002"} 0', 'bucket{le="0.005"} 3', "count 3"])
      assert.ok(parts.includes(`lobby_commit_seconds_${part}`), parts.join("\n"));
  });

  it("keeps the largest value of a state", async () => {
    assert.deepEqual(await scrape("generator_broken"), ["generator_broken 1"]);
  });

  it("keeps the role that it counts by, under its former word", async () => {
    assert.deepEqual(await scrape("process_restarts"), ['process_restarts{role="jobs"} 12']);
  });
});
