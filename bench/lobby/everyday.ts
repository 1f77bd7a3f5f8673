import { setTimeout as sleep } from "node:timers/promises";
import { note, type Table } from "../report.ts";
import type { EverydaySizes, Scenario } from "../floor-scenario.ts";
import { byProcess, perUnit, sum, type Amounts } from "./amounts.ts";
import { memoryOf, memoryTable, type MemoryUse } from "./everyday-memory.ts";
import { withPeers } from "./everyday-peers.ts";
import { warmUpSeconds, withGenerator } from "./everyday-run.ts";
import { withFloor, withServiceSide, type ServiceSide, type Side } from "./everyday-sides.ts";
import {
  comparison,
  rateTables,
  summaryOf,
  type Measured,
  type Results,
} from "./everyday-tables.ts";

/** By then an idle process has collected the garbage of its start. */
const settleSeconds = 12;

/**
 * Lobbies of eight under everyday load: commands arrive independently of responses, every lobby has its
 * subscribers, and the streams send heartbeats. All sides are measured in interleaved rounds.
 */
export const everyday: Scenario = {
  about: "commands at everyday rates with eight streams a lobby, against the bare floor",
  run: ({ isQuick, everyday: given }) => {
    return measure(isQuick ? quickSizes(given) : given);
  },
};

function quickSizes(given: EverydaySizes): EverydaySizes {
  return { ...given, rounds: 1, seconds: Math.min(given.seconds, 5) };
}

async function measure(sizes: EverydaySizes): Promise<Table[]> {
  return withSides(servicesOf(sizes), sizes, async (sides) => {
    const [measured, memory] = await measureAll(sides, sizes);
    // Last, because a service that has just started is not idle yet.
    const idle = await idleTable(sides, sizes);
    const aims = new Map(servicesOf(sizes).map(({ name, aim }) => [name, aim]));
    return [
      idle,
      memoryTable(memory, sizes.lobbies),
      ...rateTables(measured, sizes, aims),
      ...comparison(measured, sizes, { now: nameOf, before: besideName(sizes) }),
    ];
  });
}

/** The service in every requested variant, with the aim of its processor time, as a multiple of the floor's. */
function servicesOf(sizes: EverydaySizes): ServiceSide[] {
  const { workers, follow, beside } = sizes;
  return workers.flatMap((count) => [
    { name: nameOf(count), workers: count, aim: count === 1 ? 2 : 2.6 },
    ...(follow && count > 1
      ? [
          {
            ...{ name: `${nameOf(count)}, clients follow the owner`, workers: count, aim: 2.2 },
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

/** Starts the floor, the services and the peers, and stops them in reverse order. */
function withSides<T>(
  services: readonly ServiceSide[],
  sizes: EverydaySizes,
  work: (sides: Side[]) => Promise<T>,
): Promise<T> {
  const start = (n: number, sides: Side[]): Promise<T> => {
    const service = services[n];
    if (service) return withServiceSide(service, (side) => start(n + 1, [...sides, side]));
    return withPeers(sizes.peers, (peers) => work([...sides, ...peers]));
  };
  return withFloor((floor) => start(0, [floor]));
}

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

/** Cost of each side per idle second, first without and then with open streams. */
async function idleTable(sides: Side[], sizes: EverydaySizes): Promise<Table> {
  const rows: string[][] = [];
  for (const side of sides) {
    const alone = await idleCpu(side, sizes.seconds);
    const watched = await withGenerator(side, sizes, () => idleCpu(side, sizes.seconds));
    rows.push([side.name, millis(sum(alone)), byProcess(alone, 1000, 1), millis(sum(watched))]);
  }
  return {
    title: `idle: ms of processor per second over ${sizes.seconds} s, and with ${sizes.lobbies * sizes.streams} open streams`,
    head: ["side", "ms/s", "by process", "ms/s with streams"],
    rows,
  };
}

async function idleCpu(side: Side, seconds: number): Promise<Amounts> {
  const before = side.cpu();
  await sleep(seconds * 1000);
  return perUnit(before, side.cpu(), seconds);
}

const millis = (micros: number): string => (micros / 1000).toFixed(1);
