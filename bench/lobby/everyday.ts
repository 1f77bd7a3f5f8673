import type { OpenLoadCalls } from "../open-load/process.ts";
import type { RunResult } from "../open-load/generator.ts";
import { medianWithInterval, note, type Table } from "../report.ts";
import { startRemote, type Remote } from "../rpc.ts";
import type { EverydaySizes, Scenario } from "../scenario.ts";
import { floorName, withFloor, withServiceSide, type Side } from "./everyday-sides.ts";
import { withPeers } from "./everyday-peers.ts";

type Cpu = Record<string, number>;

/** One side at one rate. */
interface Measured {
  result: RunResult;
  /** CPU time in microseconds per command, by kind of process. */
  micros: Cpu;
}

/** side -> rate -> rounds. */
type Results = Map<string, Map<number, Measured[]>>;

const warmUpSeconds = 3;

/**
 * Lobbies of eight as on an ordinary evening: commands arrive whether or not the last one was answered, every lobby
 * has its subscribers, and the streams send their heartbeats. All sides are measured in interleaved rounds.
 */
export const everyday: Scenario = {
  about: "commands at everyday rates with eight streams a lobby, against the bare floor",
  run: ({ isQuick, everyday: given }) => {
    const sizes = isQuick ? quickSizes(given) : given;
    return withSides(sizes, async (sides) => {
      const results = await measureAll(sides, sizes);
      // Last: a service that has just started is not idle yet.
      return [...(await idleTable(sides, sizes)), ...tablesOf(results, sizes)];
    });
  },
};

function quickSizes(given: EverydaySizes): EverydaySizes {
  return { ...given, rounds: 1, seconds: Math.min(given.seconds, 5) };
}

/** Starts the floor, the service in every asked form, and the peers; stops them in reverse order. */
function withSides<T>(sizes: EverydaySizes, work: (sides: Side[]) => Promise<T>): Promise<T> {
  const services = sizes.workers.flatMap((workers) => [
    { name: `emberline, ${workers} HTTP worker${workers > 1 ? "s" : ""}`, workers },
    ...(sizes.beside === null
      ? []
      : [{ name: `${sizes.beside}, ${workers}`, workers, root: sizes.beside }]),
  ]);
  const start = (n: number, sides: Side[]): Promise<T> => {
    const service = services[n];
    if (service) return withServiceSide(service, (side) => start(n + 1, [...sides, side]));
    return withPeers(sizes.peers, (peers) => work([...sides, ...peers]));
  };
  return withFloor((floor) => start(0, [floor]));
}

async function measureAll(sides: Side[], sizes: EverydaySizes): Promise<Results> {
  const results: Results = new Map(sides.map(({ name }) => [name, new Map()]));
  for (let round = 0; round < sizes.rounds; round++)
    for (const rate of sizes.rates)
      // Every other round in reverse: what a side leaves behind must not always meet the same one.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const measured = await measureOne(side, sizes, rate, round);
        const ofSide = results.get(side.name);
        ofSide?.set(rate, [...(ofSide.get(rate) ?? []), measured]);
        note(`round ${round + 1}, ${rate}/s, ${side.name}: ${summaryOf(measured)}`);
      }
  return results;
}

async function measureOne(
  side: Side,
  sizes: EverydaySizes,
  perSecond: number,
  round: number,
): Promise<Measured> {
  return withGenerator(side, sizes, async (generator) => {
    await generator.call("run", { perSecond, seconds: warmUpSeconds, seed: 1 });
    const before = side.cpu();
    const result = await generator.call("run", {
      perSecond,
      seconds: sizes.seconds,
      seed: round + 2,
    });
    const after = side.cpu();
    return { result, micros: perUnit(before, after, result.commands) };
  });
}

async function withGenerator<T>(
  side: Side,
  { lobbies, streams }: EverydaySizes,
  work: (generator: Remote<OpenLoadCalls>) => Promise<T>,
): Promise<T> {
  const generator = await startRemote<OpenLoadCalls>(
    new URL("../open-load/process.ts", import.meta.url),
  );
  try {
    const rooms = await side.rooms(lobbies, streams);
    await generator.call("open", { port: side.port, protocol: side.protocol, rooms });
    return await work(generator);
  } finally {
    await generator.stop();
  }
}

/** What each side needs for a second in which nobody plays, first without and then with open streams. */
async function idleTable(sides: Side[], sizes: EverydaySizes): Promise<Table[]> {
  const rows: string[][] = [];
  for (const side of sides) {
    const alone = await idleCpu(side, sizes.seconds);
    const watched = await withGenerator(side, sizes, () => idleCpu(side, sizes.seconds));
    rows.push([side.name, millis(sum(alone)), byProcess(alone, 1000, 1), millis(sum(watched))]);
  }
  return [
    {
      title: `idle: ms of processor per second over ${sizes.seconds} s, and with ${sizes.lobbies * sizes.streams} open streams`,
      head: ["side", "ms/s", "by process", "ms/s with streams"],
      rows,
    },
  ];
}

async function idleCpu(side: Side, seconds: number): Promise<Cpu> {
  const before = side.cpu();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return perUnit(before, side.cpu(), seconds);
}

function tablesOf(results: Results, sizes: EverydaySizes): Table[] {
  const floor = results.get(floorName);
  return sizes.rates.map((rate) => {
    const atRate = (name: string) => results.get(name)?.get(rate) ?? [];
    const rows = [...results.keys()].map((name) => {
      const rounds = atRate(name);
      const ratio = (of: (one: Measured) => number) => {
        const pairs = rounds.map((one, n) => {
          const base = floor?.get(rate)?.[n];
          return base ? of(one) / of(base) : Number.NaN;
        });
        return name === floorName ? "" : medianWithInterval(pairs, "x");
      };
      const middle = (of: (one: Measured) => number, digits: number) =>
        medianWithInterval(rounds.map(of), "", digits);
      return [
        name,
        middle((one) => sum(one.micros), 0),
        ratio((one) => sum(one.micros)),
        byProcess(averageOf(rounds.map(({ micros }) => micros)), 1, 0),
        middle(({ result }) => result.answers.p50Ms, 2),
        middle(({ result }) => result.answers.p99Ms, 1),
        middle(({ result }) => result.lastDeliveries.p50Ms, 2),
        middle(({ result }) => result.lastDeliveries.p99Ms, 1),
        ratio(({ result }) => result.lastDeliveries.p50Ms),
        rounds.map(({ result }) => faultsOf(result)).reduce(addFaults, "0/0/0/0/0"),
      ];
    });
    return {
      title:
        `everyday: ${rate} commands/s in ${sizes.lobbies} lobbies x ${sizes.streams} streams, ` +
        `${sizes.rounds} interleaved rounds of ${sizes.seconds} s, median (90 % interval)`,
      head: [
        "side",
        "us per command",
        "to floor",
        "by process",
        "answer p50 ms",
        "answer p99 ms",
        "last delivery p50 ms",
        "last delivery p99 ms",
        "p50 to floor",
        "refused/lost/doubled/disordered/closed",
      ],
      rows,
    };
  });
}

function summaryOf({ result, micros }: Measured): string {
  const { lastDeliveries } = result;
  return `${sum(micros).toFixed(0)} us, p50 ${lastDeliveries.p50Ms.toFixed(1)} ms, p99 ${lastDeliveries.p99Ms.toFixed(1)} ms, ${faultsOf(result)}`;
}

const faultsOf = (one: RunResult): string =>
  [one.refused, one.lost, one.doubled, one.disordered, one.closed].join("/");

function addFaults(one: string, other: string): string {
  const more = other.split("/").map(Number);
  return one
    .split("/")
    .map((count, n) => Number(count) + (more[n] ?? 0))
    .join("/");
}

const sum = (cpu: Cpu): number => Object.values(cpu).reduce((a, b) => a + b, 0);
const millis = (micros: number): string => (micros / 1000).toFixed(1);

function perUnit(before: Cpu, after: Cpu, units: number): Cpu {
  return Object.fromEntries(
    Object.entries(after).map(([name, micros]) => [name, (micros - (before[name] ?? 0)) / units]),
  );
}

function averageOf(all: Cpu[]): Cpu {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      all.reduce((total, one) => total + (one[name] ?? 0), 0) / all.length,
    ]),
  );
}

const byProcess = (cpu: Cpu, divisor: number, digits: number): string =>
  Object.entries(cpu)
    .map(([name, micros]) => `${name} ${(micros / divisor).toFixed(digits)}`)
    .join(", ");
