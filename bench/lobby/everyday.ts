import { setTimeout as sleep } from "node:timers/promises";
import { note, type Table } from "../report.ts";
import type { EverydaySizes, Scenarios } from "../floor-scenario.ts";
import { perUnit } from "../rooms/amounts.ts";
import { withFloor } from "../peers/raw.ts";
import { withAll, withGenerator, type Side, type With } from "../rooms/side.ts";
import { memoryOf, memoryTable, type MemoryUse } from "./everyday-memory.ts";
import { peerNamed } from "../peers/named.ts";
import { withServiceSide, type ServiceSide } from "./everyday-sides.ts";
import {
  comparison,
  floorName,
  rateTables,
  summaryOf,
  type Measured,
  type Results,
} from "./everyday-tables.ts";

/** Seconds of load before each measured run. */
const warmUpSeconds = 3;
/** By then an idle process has collected the garbage of its start. */
const settleSeconds = 12;

/**
 * Lobbies of eight under everyday load: commands arrive independently of responses, every lobby has its
 * subscribers, and the streams send heartbeats. All sides are measured in interleaved rounds.
 */
export const scenarios: Scenarios = {
  everyday: {
    about: "commands at everyday rates with eight streams a lobby, against the bare floor",
    run: ({ isQuick, everyday: given }) =>
      measure(isQuick ? { ...given, rounds: 1, seconds: Math.min(given.seconds, 5) } : given),
  },
};

async function measure(sizes: EverydaySizes): Promise<Table[]> {
  const services = servicesOf(sizes);
  const starts: With<Side, Table[]>[] = [
    (work) => withFloor(floorName, work),
    ...services.map(
      (service): With<Side, Table[]> =>
        (work) =>
          withServiceSide(service, work),
    ),
    ...sizes.peers.map((name) => peerNamed<Table[]>(name)),
  ];
  return withAll(starts, async (sides) => {
    const [measured, memory] = await measureAll(sides, sizes);
    const limits = new Map(services.map(({ name, limit }) => [name, limit]));
    return [
      memoryTable(memory, sizes.lobbies),
      ...rateTables(measured, sizes, limits),
      ...comparison(measured, sizes, { now: nameOf, before: besideName(sizes) }),
    ];
  });
}

/** The service in every requested variant, with the most processor time of a command, as a multiple of the floor's. */
function servicesOf(sizes: EverydaySizes): ServiceSide[] {
  const { workers, follow, beside } = sizes;
  return workers.flatMap((count) => [
    { name: nameOf(count), workers: count, limit: count === 1 ? 2 : 2.6 },
    ...(follow && count > 1
      ? [
          {
            ...{ name: `${nameOf(count)}, clients follow the owner`, workers: count, limit: 2.2 },
            isFollowed: true,
          },
        ]
      : []),
    ...(beside === null ? [] : [{ name: besideName(sizes)(count), workers: count, root: beside }]),
  ]);
}

const besideName =
  ({ beside }: EverydaySizes) =>
  (workers: number) =>
    `${beside}, ${workers}`;

const nameOf = (workers: number) => `emberline, ${workers} HTTP worker${workers > 1 ? "s" : ""}`;

async function measureAll(
  sides: Side[],
  sizes: EverydaySizes,
): Promise<[Results, Map<string, MemoryUse>]> {
  const results: Results = new Map(sides.map(({ name }) => [name, new Map()]));
  await sleep(settleSeconds * 1000);
  const memory = new Map<string, MemoryUse>();
  for (const side of sides)
    memory.set(side.name, { before: memoryOf(side), after: memoryOf(side) });
  for (let round = 0; round < sizes.rounds; round++)
    for (const rate of sizes.rates)
      // Reverses every other round, so that after-effects of a side do not always affect the same one.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const measured = await measureOne(side, sizes, rate, round, () => {
          const use = memory.get(side.name);
          if (use) use.after = memoryOf(side);
        });
        const ofSide = results.get(side.name);
        ofSide?.set(rate, [...(ofSide.get(rate) ?? []), measured]);
        note(`round ${round + 1}, ${rate}/s, ${side.name}: ${summaryOf(measured)}`);
      }
  return [results, memory];
}

async function measureOne(
  side: Side,
  sizes: EverydaySizes,
  perSecond: number,
  round: number,
  onEnd: () => void,
): Promise<Measured> {
  return withGenerator(side, sizes, async (run) => {
    await run({ perSecond, seconds: warmUpSeconds, seed: 1 });
    const before = side.cpu();
    const result = await run({ perSecond, seconds: sizes.seconds, seed: round + 2 });
    const micros = perUnit(before, side.cpu(), result.commands);
    onEnd();
    return { result, micros };
  });
}
