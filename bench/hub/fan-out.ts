import { cpuMicros } from "../processes.ts";
import { median, note, verdict, type Table } from "../report.ts";
import type { BenchOptions, Scenario } from "../floor-scenario.ts";
import { sumFaults, type Audience, type Load } from "../streams/audience.ts";
import type { Faults } from "../streams/reader.ts";
import { requireFiles, withServers } from "./servers.ts";

export interface FanOut {
  about: string;
  topics: number;
  perTopic: number;
  /** Events per second over all topics; null: as fast as the clients read. */
  perSecond: number | null;
  /** Aim of the processor time of a delivery, as a multiple of the raw server's. */
  aim: number;
}

interface Round {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of the server, and of its Redis, per delivered event. */
  micros: number;
  storeMicros: number;
}

interface Measured {
  audience: Audience;
  rounds: Round[];
  faults: Faults[];
}

/** Message sizes of a running lobby: most are picks and answers. */
const eventBytes = 300;
/** A real service runs for days: its code is compiled, and its collector has adapted. */
const warmUpSeconds = 10;

/**
 * Sends events to many streams, alternating between the servers, so that load of the machine affects all of
 * them.
 */
export function fanOut(given: FanOut): Scenario {
  const { topics, perTopic } = given;
  return {
    about: given.about,
    async run({ isQuick }) {
      requireFiles(topics * perTopic);
      const measured = await withServers(topics, (audiences) =>
        measureAll(audiences, given, isQuick),
      );
      return [tableOf(given, measured, isQuick)];
    },
  };
}

async function measureAll(
  audiences: Audience[],
  { perTopic, perSecond }: FanOut,
  isQuick: boolean,
): Promise<Measured[]> {
  const load: Load = { seconds: isQuick ? 2 : 5, bytes: eventBytes, perSecond };
  const all: Measured[] = [];
  for (const audience of audiences) {
    const ms = await audience.open(perTopic);
    note(`${audience.peer.name}: streams open after ${(ms / 1000).toFixed(1)} s`);
    await measureRound(audience, { ...load, seconds: isQuick ? 1 : warmUpSeconds });
    all.push({ audience, rounds: [], faults: [] });
  }
  for (let n = 0; n < (isQuick ? 1 : 5); n++)
    for (const { audience, rounds, faults } of all) {
      const { round, fault } = await measureRound(audience, load);
      rounds.push(round);
      faults.push(fault);
      note(
        `${audience.peer.name}: ${round.micros.toFixed(1)} us, p99 ${round.p99Ms.toFixed(1)} ms`,
      );
    }
  return all;
}

async function measureRound(audience: Audience, load: Load) {
  const { pids, storePids } = audience.peer;
  await audience.begin();
  const started = performance.now();
  const [cpu, storeCpu] = [cpuMicros(pids), cpuMicros(storePids)];
  await audience.publish(load);
  const seconds = (performance.now() - started) / 1000;
  const fault = await audience.settle();
  const { delivered, latencies } = await audience.counts();
  const round: Round = {
    perSecond: delivered / seconds,
    p50Ms: latencies.at(0.5),
    p99Ms: latencies.at(0.99),
    micros: (cpuMicros(pids) - cpu) / delivered,
    storeMicros: (cpuMicros(storePids) - storeCpu) / delivered,
  };
  return { round, fault };
}

function tableOf(given: FanOut, measured: Measured[], isQuick: BenchOptions["isQuick"]): Table {
  const medianOf = (one: Measured, key: keyof Round) =>
    median(one.rounds.map((round) => round[key]));
  const [raw] = measured;
  const nchan = measured.find(({ audience }) => audience.peer.name === "Nchan");
  const ratio = (one: Measured, to: Measured) =>
    median(one.rounds.map(({ micros }, i) => micros / (to.rounds[i]?.micros ?? Number.NaN)));
  const rows = measured.map((one) => {
    const isOurs = one.audience.peer.storePids.length > 0;
    const targets =
      isOurs && raw ? [verdict(ratio(one, raw), { limit: given.aim, unit: "x raw" })] : [];
    if (isOurs && nchan) targets.push(verdict(ratio(one, nchan), { limit: 1, unit: "x Nchan" }));
    const { lost, doubled, disordered, closed, refused } = sumFaults(one.faults);
    return [
      one.audience.peer.name,
      medianOf(one, "perSecond").toFixed(0),
      medianOf(one, "p50Ms").toFixed(1),
      medianOf(one, "p99Ms").toFixed(1),
      medianOf(one, "micros").toFixed(1),
      isOurs ? medianOf(one, "storeMicros").toFixed(1) : "",
      raw && one !== raw ? `${ratio(one, raw).toFixed(2)}x` : "",
      targets.join(", "),
      [lost, doubled, disordered, closed, refused].join("/"),
    ];
  });
  const { topics, perTopic } = given;
  const rounds = isQuick ? "one short round" : "median of 5 interleaved rounds";
  return {
    title: `${given.about}: ${topics} topics x ${perTopic} streams, ${rounds}`,
    head: [
      "server",
      "delivered/s",
      "p50 ms",
      "p99 ms",
      "us per delivery",
      "Redis us",
      "vs raw",
      "target",
      "lost/duplicated/misordered/closed/refused",
    ],
    rows,
  };
}
