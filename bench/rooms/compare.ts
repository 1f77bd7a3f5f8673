import { percentileOrMax } from "../load/histogram.ts";
import { median, medianWithInterval, note, verdict, type Table } from "../report.ts";
import type { RunResult } from "./generator.ts";
import { faultsText, withAll, withGenerator, type Amounts, type Side, type With } from "./side.ts";

/** A side, and its most processor time as a multiple of that of the first side. */
export interface Compared {
  start: With<Side, Table[]>;
  limit?: number;
}

export interface Plan {
  about: string;
  lobbies: number;
  /** Streams per lobby. */
  streams: number;
  /** Commands per second over all lobbies. */
  rates: readonly number[];
  rounds: number;
  /** Length of a round. */
  seconds: number;
  /** Unit of the processor time: a delivery of the processes that serve the streams, or a command of all processes. */
  per: "delivery" | "command";
}

/** One side at one rate. */
interface Measured {
  result: RunResult;
  /** Processor time in microseconds of a unit, by process role. */
  micros: Amounts;
}

/** Seconds of load before each measured run. */
const warmUpSeconds = 3;
const servingRoles = ["server", "HTTP worker"];

/** The same commands to the rooms of all sides, which take turns, so that the machine's load affects all of them. */
export const compareSides = (sides: readonly Compared[], plan: Plan): Promise<Table[]> =>
  withAll(
    sides.map(({ start }) => start),
    async (started) => {
      const tables: Table[] = [];
      for (const rate of plan.rates) {
        const results: Measured[][] = started.map(() => []);
        for (let round = 0; round < plan.rounds; round++)
          for (const [at, side] of inTurn([...started.entries()], round)) {
            const measured = await measureOne(side, plan, rate, round);
            results[at]?.push(measured);
            note(`round ${round + 1}, ${rate}/s, ${side.name}: ${summaryOf(measured, plan)}`);
          }
        const rows = started.map(({ name }, at) => ({
          ...{ name, rounds: results[at] ?? [], limit: sides[at]?.limit },
        }));
        tables.push(tableOf(rows, plan, rate));
      }
      return tables;
    },
  );

/** Reversed every other round, so that after-effects of a side do not always affect the same one. */
const inTurn = <T>(sides: T[], round: number): T[] => (round % 2 === 0 ? sides : sides.reverse());

const measureOne = (side: Side, plan: Plan, perSecond: number, round: number): Promise<Measured> =>
  withGenerator(side, plan, async (run) => {
    await run({ perSecond, seconds: warmUpSeconds, seed: 1 });
    const before = side.cpu();
    const result = await run({ perSecond, seconds: plan.seconds, seed: round + 2 });
    const units = result.commands * (plan.per === "delivery" ? plan.streams : 1);
    const micros = Object.entries(side.cpu()).map(([role, now]) => [
      role,
      (now - (before[role] ?? 0)) / units,
    ]);
    return { result, micros: Object.fromEntries(micros) as Amounts };
  });

const costOf = ({ micros }: Measured, { per }: Plan): number =>
  Object.entries(micros)
    .filter(([role]) => per === "command" || servingRoles.includes(role))
    .reduce((total, [, value]) => total + value, 0);

const lastDelivery = ({ result }: Measured, percent: 50 | 99) =>
  percentileOrMax(result.lastDeliveries, percent);

function summaryOf(one: Measured, plan: Plan): string {
  const [p50, p99] = [lastDelivery(one, 50), lastDelivery(one, 99)];
  return `${costOf(one, plan).toFixed(1)} us, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${faultsText([one.result])}`;
}

interface Row {
  name: string;
  rounds: Measured[];
  limit: number | undefined;
}

function tableOf(rows: readonly Row[], plan: Plan, rate: number): Table {
  const { about, lobbies, streams, seconds, per } = plan;
  const first = rows[0]?.rounds ?? [];
  const cost = (one: Measured) => costOf(one, plan);
  return {
    title:
      `${about}: ${rate} commands/s in ${lobbies} lobbies x ${streams} streams, ` +
      `${first.length} interleaved rounds of ${seconds} s, median (90 % interval)`,
    head: [
      ...["side", `us per ${per}`, "vs first", "target", "by process", "answer p50 ms", "p99 ms"],
      ...["last delivery p50 ms", "p99 ms", "p50 vs first"],
      "refused/lost/duplicated/misordered/closed",
    ],
    rows: rows.map(({ name, rounds, limit }) => {
      const middle = (of: (one: Measured) => number, digits: number) =>
        medianWithInterval(rounds.map(of), "", digits);
      const ratios = (of: (one: Measured) => number) =>
        rounds.map((one, n) => of(one) / of(first[n] ?? one));
      const ratio = (of: (one: Measured) => number) =>
        rounds === first ? "" : medianWithInterval(ratios(of), "x");
      const roles = Object.keys(rounds[0]?.micros ?? {});
      return [
        ...[name, middle(cost, per === "command" ? 0 : 1), ratio(cost)],
        limit === undefined ? "" : verdict(median(ratios(cost)), { limit, unit: "x" }),
        roles
          .map((role) => `${role} ${middleOf(rounds, role).toFixed(per === "command" ? 0 : 1)}`)
          .join(", "),
        middle(({ result }) => percentileOrMax(result.answers, 50), 2),
        middle(({ result }) => percentileOrMax(result.answers, 99), 1),
        middle((one) => lastDelivery(one, 50), 2),
        middle((one) => lastDelivery(one, 99), 1),
        ratio((one) => lastDelivery(one, 50)),
        faultsText(rounds.map(({ result }) => result)),
      ];
    }),
  };
}

const middleOf = (rounds: readonly Measured[], role: string) =>
  median(rounds.map(({ micros }) => micros[role] ?? 0));
