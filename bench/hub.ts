import type { Scenario, Scenarios } from "./floor-scenario.ts";
import { percentileOrMax } from "./load/histogram.ts";
import { withHub } from "./peers/hub.ts";
import { findNchan, nchan, withNchan } from "./peers/nchan.ts";
import { eventMessage } from "./peers/event-message.ts";
import { withRaw } from "./peers/raw.ts";
import { fileLimit } from "./processes.ts";
import { median, note, verdict, type Table } from "./report.ts";
import { perUnit, type Amounts } from "./rooms/amounts.ts";
import type { RunResult } from "./rooms/generator.ts";
import {
  faultsText,
  withAll,
  withGenerator,
  type Run,
  type Side,
  type With,
} from "./rooms/side.ts";

interface FanOut {
  about: string;
  topics: number;
  perTopic: number;
  /** Events per second over all topics. */
  perSecond: number;
  /** Most processor time of a delivery, as a multiple of the raw server's. */
  limit: number;
}

interface Round {
  result: RunResult;
  /** CPU time in microseconds per delivered event, by process role. */
  micros: Amounts;
}

/** A real service runs for days: its code is compiled, and its collector has adapted. */
const warmUpSeconds = 10;
/** Open files that a server needs besides its streams. */
const spareFiles = 500;

export const scenarios: Scenarios = {
  lobbies: fanOut({
    about: "lobbies of eight with two events a second",
    ...{ topics: 500, perTopic: 8, perSecond: 1000, limit: 1.3 },
  }),
  topic: fanOut({
    about: "one lobby with thousands of subscribers, two events a second",
    ...{ topics: 1, perTopic: 4000, perSecond: 2, limit: 1.2 },
  }),
};

/** Events to many streams of all servers in turns, so that load of the machine affects all of them. */
function fanOut(given: FanOut): Scenario {
  const { topics, perTopic, about } = given;
  const sizes = { lobbies: topics, streams: perTopic };
  return {
    about,
    async run({ isQuick }) {
      const numFiles = topics * (perTopic + 1) + spareFiles;
      if (fileLimit() < numFiles)
        throw new Error(
          `${numFiles} open files are needed, ${fileLimit()} allowed: see ulimit -Hn`,
        );
      const module = findNchan();
      if (module === null)
        note(
          "Nchan is not installed (Debian: nginx-core, libnginx-mod-nchan): compared without it",
        );
      const servers: With<Side, Table[]>[] = [
        (work) => withRaw({ name: "raw uWebSockets.js", body: eventMessage }, work),
        ...(module === null
          ? []
          : [(work: (side: Side) => Promise<Table[]>) => withNchan(module, numFiles, work)]),
        withHub,
      ];
      return withAll(servers, (sides) => {
        const clients = sides.map(
          (side): With<[Side, Run], Table[]> =>
            (work) =>
              withGenerator(side, sizes, (run) => work([side, run])),
        );
        return withAll(clients, async (all) => [
          tableOf(given, await measureAll(all, given, isQuick), isQuick),
        ]);
      });
    },
  };
}

async function measureAll(
  sides: readonly (readonly [Side, Run])[],
  { perTopic, perSecond }: FanOut,
  isQuick: boolean,
): Promise<Map<string, Round[]>> {
  const all = new Map<string, Round[]>(sides.map(([{ name }]) => [name, []]));
  for (const [, run] of sides)
    await run({ perSecond, seconds: isQuick ? 2 : warmUpSeconds, seed: 1 });
  for (let round = 0; round < (isQuick ? 1 : 5); round++)
    for (const [side, run] of sides) {
      const before = side.cpu();
      const result = await run({ perSecond, seconds: isQuick ? 2 : 5, seed: round + 2 });
      const micros = perUnit(before, side.cpu(), result.commands * perTopic);
      all.get(side.name)?.push({ result, micros });
      note(`${side.name}: ${serverMicros({ micros }).toFixed(1)} us`);
    }
  return all;
}

const serverMicros = ({ micros }: Pick<Round, "micros">) => micros["server"] ?? Number.NaN;

function tableOf(given: FanOut, all: ReadonlyMap<string, Round[]>, isQuick: boolean): Table {
  const { about, topics, perTopic, limit } = given;
  const rows = [...all].map(([name, rounds], at) => {
    const medianOf = (of: (round: Round) => number) => median(rounds.map(of));
    const ratioTo = (other: readonly Round[] = []) =>
      median(
        rounds.map((round, n) => serverMicros(round) / (other[n] ? serverMicros(other[n]) : 0)),
      );
    const [raw] = all.values();
    const isOurs = at === all.size - 1;
    const targets = isOurs ? [verdict(ratioTo(raw), { limit, unit: "x raw" })] : [];
    if (isOurs && all.has(nchan))
      targets.push(verdict(ratioTo(all.get(nchan)), { limit: 1, unit: "x Nchan" }));
    return [
      name,
      ...([50, 99] as const).map((percent) =>
        medianOf(({ result }) => percentileOrMax(result.lastDeliveries, percent)).toFixed(1),
      ),
      medianOf(serverMicros).toFixed(1),
      isOurs ? medianOf(({ micros }) => micros["Redis"] ?? 0).toFixed(1) : "",
      at === 0 ? "" : `${ratioTo(raw).toFixed(2)}x`,
      targets.join(", "),
      faultsText(rounds.map(({ result }) => result)),
    ];
  });
  const rounds = isQuick ? "one short round" : "median of 5 interleaved rounds";
  return {
    title: `${about}: ${topics} topics x ${perTopic} streams, ${rounds}`,
    head: [
      ...["server", "last delivery p50 ms", "p99 ms", "us per delivery", "Redis us", "vs raw"],
      ...["target", "refused/lost/duplicated/misordered/closed"],
    ],
    rows,
  };
}
