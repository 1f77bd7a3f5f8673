import { residentKib } from "../processes.ts";
import { note, verdict } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import type { Audience, Load } from "../streams/audience.ts";
import { requireFiles, topicNames, withHub } from "./servers.ts";

const topics = 10;
const readersPerTopic = 8;
const stuckPerTopic = 10;
const targetMib = 10;
/** Maximum slowdown of other streams by the stalled ones. */
const targetSlowdown = 1.5;

interface Measurement {
  p50Ms: number;
  p99Ms: number;
  grownMib: number;
}

/** Streams that are open but never read, among others that are. */
export const stuck: Scenario = {
  about: "a hundred clients that read nothing, in flooded lobbies",
  async run({ isQuick }) {
    const streams = topics * (readersPerTopic + stuckPerTopic);
    requireFiles(streams);
    // Large events, since the kernel buffers some megabytes per socket before backpressure starts.
    const load: Load = { seconds: isQuick ? 15 : 60, bytes: 15_000, perSecond: topics * 40 };
    return withHub(topicNames(topics), async (audience) => {
      await audience.open(readersPerTopic);
      await measure(audience, { ...load, seconds: 5 });
      const without = await measure(audience, { ...load, seconds: isQuick ? 8 : 20 });
      await audience.open(stuckPerTopic, { isStuck: true });
      const withStuck = await measure(audience, load);
      const faults = await audience.settle();
      const left = await audience.cutStuck();
      const slowdown = withStuck.p99Ms / without.p99Ms;
      const cells = ({ p50Ms, p99Ms, grownMib }: Measurement) =>
        [p50Ms, p99Ms, grownMib].map((value) => value.toFixed(1));
      return [
        {
          title: `stuck: ${topics * stuckPerTopic} streams that never read and ${topics * readersPerTopic} that do, ${load.perSecond} events/s of ${load.bytes} bytes for ${load.seconds} s`,
          head: ["with", "p50 ms", "p99 ms", "RSS growth MiB", "target"],
          rows: [
            ["reading streams only", ...cells(without), ""],
            [
              "with stuck streams",
              ...cells(withStuck),
              `${verdict(withStuck.grownMib, { limit: targetMib, unit: " MiB" })}, p99 ${verdict(slowdown, { limit: targetSlowdown, unit: "x" })}`,
            ],
            [`lost ${faults.lost}, duplicated ${faults.doubled}, not ended by the hub: ${left}`],
          ],
        },
      ];
    });
  },
};

async function measure(audience: Audience, load: Load): Promise<Measurement> {
  const { peer } = audience;
  await peer.collect();
  const before = residentKib(peer.pids);
  await audience.begin();
  await audience.publish(load);
  await audience.settle();
  const { latencies } = await audience.counts();
  await peer.collect();
  const measurement = {
    p50Ms: latencies.at(0.5),
    p99Ms: latencies.at(0.99),
    grownMib: (residentKib(peer.pids) - before) / 1024,
  };
  note(`p99 ${measurement.p99Ms.toFixed(1)} ms, ${measurement.grownMib.toFixed(1)} MiB`);
  return measurement;
}
