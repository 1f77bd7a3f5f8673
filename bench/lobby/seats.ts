import { setTimeout as sleep } from "node:timers/promises";
import { requireFiles } from "../hub/servers.ts";
import { median, medianWithInterval, note, type Table } from "../report.ts";
import type { EverydaySizes, Scenario } from "../floor-scenario.ts";
import { averageOf, byProcess, perUnit, sum, type Amounts } from "./amounts.ts";
import { withServiceSide, type ServiceSide, type Side } from "./everyday-sides.ts";
import { SeatClients, seatsPerRoom, type SeatStep } from "./seat-clients.ts";

/** CPU time in microseconds by process role, of each step as performed by each room or player. */
type Round = Record<SeatStep, Amounts>;

const steps: readonly SeatStep[] = ["room", "join", "token", "stream"];
const whole = "a seat";

/**
 * Rounds before the measurement compile the code and open connections, like in a service that runs for
 * hours.
 */
const warmUpRounds = 1;
/** By then the jobs that follow the end of a lobby are done. */
const settleMs = 3_000;

/** Cost of seating a player, by step; the services are measured in interleaved rounds. */
export const seats: Scenario = {
  about: "processor time of a room, a join, a token and a first stream, by process",
  async run({ isQuick, everyday, rounds: { rounds: given } }) {
    const sizes = isQuick ? { ...everyday, lobbies: Math.min(everyday.lobbies, 40) } : everyday;
    const rounds = isQuick ? 1 : given;
    requireFiles(sizes.lobbies * seatsPerRoom);
    const results = await withSides(servicesOf(sizes), async (sides) => {
      const clients = new Map(sides.map((side) => [side, new SeatClients(side.port)]));
      for (const ofSide of clients.values()) await ofSide.arrive(sizes.lobbies);
      const all = new Map<string, Round[]>(sides.map(({ name }) => [name, []]));
      for (let round = -warmUpRounds; round < rounds; round++)
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          const ofSide = clients.get(side);
          if (!ofSide) continue;
          const measured = await measureRound(side, ofSide, sizes.lobbies);
          if (round < 0) continue;
          all.get(side.name)?.push(measured);
          note(`round ${round + 1}, ${side.name}: ${(seatMicros(measured) / 1000).toFixed(2)} ms`);
        }
      return all;
    });
    return [tableOf(results, sizes.lobbies, rounds)];
  },
};

function servicesOf({ workers, beside }: EverydaySizes): ServiceSide[] {
  return workers.flatMap((count) => [
    { name: `emberline, ${count}`, workers: count, env },
    ...(beside === null
      ? []
      : [{ name: `${beside}, ${count}`, workers: count, root: beside, env }]),
  ]);
}

/** Requests are counted as in production, but no limit is reached. */
const env = { RATE_LIMIT_FACTOR: "100000" };

function withSides<T>(
  services: readonly ServiceSide[],
  work: (sides: Side[]) => Promise<T>,
  started: Side[] = [],
): Promise<T> {
  const [next, ...others] = services;
  if (!next) return work(started);
  return withServiceSide(next, (side) => withSides(others, work, [...started, side]));
}

async function measureRound(side: Side, clients: SeatClients, rooms: number): Promise<Round> {
  const round: Partial<Round> = {};
  for (const step of steps) {
    const before = side.cpu();
    const commands = await clients.take(step, rooms);
    round[step] = perUnit(before, side.cpu(), commands);
  }
  await clients.leave();
  await sleep(settleMs);
  return round as Round;
}

/** A room has one host and seven guests who join; each takes a token and opens a stream. */
const shares: Record<SeatStep, number> = {
  room: 1 / seatsPerRoom,
  join: 1 - 1 / seatsPerRoom,
  token: 1,
  stream: 1,
};

const seatMicros = (round: Round): number =>
  steps.reduce((total, step) => total + shares[step] * sum(round[step]), 0);

function seatAmounts(rounds: readonly Round[]): Amounts {
  const total: Amounts = {};
  for (const step of steps)
    for (const [name, value] of Object.entries(averageOf(rounds.map((round) => round[step]))))
      total[name] = (total[name] ?? 0) + shares[step] * value;
  return total;
}

function tableOf(results: Map<string, Round[]>, rooms: number, rounds: number): Table {
  const cell = (micros: Amounts) => byProcess(micros, 1000, 2);
  const rows = [...results].flatMap(([side, all]) => [
    ...steps.map((step) => {
      const of = all.map((round) => round[step]);
      const millis = of.map((micros) => sum(micros) / 1000);
      return [side, step, medianWithInterval(millis), "", cell(averageOf(of))];
    }),
    [
      side,
      whole,
      medianWithInterval(all.map((round) => seatMicros(round) / 1000)),
      besideText(results, side),
      cell(seatAmounts(all)),
    ],
  ]);
  return {
    title:
      `seats: ms of processor of all processes for each, ${rooms} rooms of ${seatsPerRoom} a round, ` +
      `${rounds} interleaved rounds, median (90 % interval)`,
    head: ["side, HTTP workers", "step", "ms", "vs first", "by process"],
    rows,
  };
}

/** The median of each round's ratio to the first side. */
function besideText(results: Map<string, Round[]>, side: string): string {
  const [first] = results.values();
  const all = results.get(side) ?? [];
  if (!first || first === all) return "";
  const ratios = all.map((round, n) => {
    const base = first[n];
    return base ? seatMicros(round) / seatMicros(base) : Number.NaN;
  });
  return ratios.length < 5 ? `${median(ratios).toFixed(2)}x` : medianWithInterval(ratios, "x");
}
