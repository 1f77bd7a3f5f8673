import { cpuMicros, residentKib } from "../processes.ts";
import { note, verdict } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import type { Audience } from "../streams/audience.ts";
import { requireFiles, topicNames, withServers } from "./servers.ts";

const topics = 500;
const targetKib = 4;

/** Cost of an idle stream; garbage is collected before each measurement of memory. */
export const idle: Scenario = {
  about: "ten thousand idle streams",
  async run({ isQuick }) {
    const perTopic = isQuick ? 4 : 20;
    const streams = topics * perTopic;
    requireFiles(streams);
    const rows = await withServers(topicNames(topics), async (audiences) => {
      const measured: string[][] = [];
      for (const audience of audiences) measured.push(await measure(audience, perTopic, streams));
      return measured;
    });
    return [
      {
        title: `idle: ${streams} streams on ${topics} topics`,
        head: [
          "server",
          "KiB per stream",
          "us per connect",
          "connect p50 ms",
          "connect p99 ms",
          "all open s",
          "refused",
          "target",
        ],
        rows,
      },
    ];
  },
};

async function measure(audience: Audience, perTopic: number, streams: number): Promise<string[]> {
  const { peer } = audience;
  await peer.collect();
  await audience.begin();
  const before = residentKib(peer.pids);
  const cpu = cpuMicros(peer.pids);
  const ms = await audience.open(perTopic);
  const micros = (cpuMicros(peer.pids) - cpu) / streams;
  const { openings } = await audience.counts();
  await peer.collect();
  const kib = (residentKib(peer.pids) - before) / streams;
  const { refused } = await audience.settle();
  note(`${peer.name}: ${kib.toFixed(2)} KiB`);
  const isOurs = peer.storePids.length > 0;
  return [
    peer.name,
    kib.toFixed(2),
    micros.toFixed(0),
    openings.at(0.5).toFixed(1),
    openings.at(0.99).toFixed(1),
    (ms / 1000).toFixed(1),
    String(refused),
    isOurs ? verdict(kib, { limit: targetKib, unit: " KiB" }) : "",
  ];
}
