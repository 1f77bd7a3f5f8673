import type { Generator, Job } from "../load.ts";
import { median, verdict, type Target, type Table } from "../report.ts";
import { answersOf, measureRequests, startEcho, type Echo, type Measured } from "../requests.ts";
import type { Scenario } from "../floor-scenario.ts";
import { pidsOf, withService } from "../service.ts";
import type { Service } from "../../test/support/process.ts";
import {
  anyPicks,
  connections,
  echoPost,
  openFor,
  placedPicks,
  startGames,
  type BenchSeat,
} from "./field.ts";

const lobbyCount = 100;
const workers = 2;
const names = {
  echo: "raw echo",
  local: "committed pick, local",
  forwarded: "committed pick, forwarded",
  mixed: "committed pick, anywhere",
} as const;

type Name = keyof typeof names;
type Round = Record<Name, Measured>;

/** Lobby commands at saturation, with two HTTP workers. */
export const picks: Scenario = {
  about: "lobby commands: committed where they arrive, forwarded to another process",
  async run({ isQuick }) {
    const seconds = isQuick ? 2 : 5;
    const echo = await startEcho(300, workers);
    try {
      return await withService(workers, async (service) => {
        const rounds: Round[] = [];
        for (let n = 0; n < (isQuick ? 1 : 5); n++)
          rounds.push(await measureRound(service, echo, seconds));
        return [tableOf(rounds), targetsOf(rounds)];
      });
    } finally {
      await echo.stop();
    }
  },
};

async function measureRound(service: Service, echo: Echo, seconds: number): Promise<Round> {
  // First, because a connection idle for ten seconds is closed.
  const echoRow = await echo.measure({
    name: names.echo,
    request: echoPost,
    connections,
    seconds,
  });
  return {
    echo: echoRow,
    ...(await inGames(service, seconds, async ({ seats, generator, measure }) => ({
      local: await measure("local", await placedPicks(service, generator, seats, true)),
      forwarded: await measure("forwarded", await placedPicks(service, generator, seats, false)),
      mixed: await measure("mixed", anyPicks(generator, seats)),
    }))),
  };
}

interface Games {
  seats: BenchSeat[];
  generator: Generator;
  measure: (name: Name, jobs: Job[]) => Promise<Measured>;
}

/** Starts games for this round, since a question is open for a minute only. */
async function inGames<T>(
  service: Service,
  seconds: number,
  play: (games: Games) => Promise<T>,
): Promise<T> {
  const seats = await startGames(service, lobbyCount);
  const generator = await openFor(service);
  const given = { generator, seconds, ...(await pidsOf(service)) };
  const measure = (name: Name, jobs: Job[]) =>
    measureRequests({ ...given, name: names[name], jobs });
  const measured = await play({ seats, generator, measure });
  generator.close();
  return measured;
}

function tableOf(rounds: Round[]): Table {
  const rows = (Object.keys(names) as Name[]).map((name) => {
    const medianOf = (key: "perSecond" | "p50Ms" | "p99Ms" | "workerMicros" | "redisMicros") =>
      median(rounds.map((round) => round[name][key]));
    const [first] = rounds;
    return [
      names[name],
      medianOf("perSecond").toFixed(0),
      medianOf("p50Ms").toFixed(2),
      medianOf("p99Ms").toFixed(2),
      medianOf("workerMicros").toFixed(1),
      name === "echo" ? "" : medianOf("redisMicros").toFixed(1),
      first ? answersOf(first[name]) : "",
    ];
  });
  return {
    title: `picks: ${lobbyCount} lobbies, ${connections} connections, two HTTP workers, median of ${rounds.length}; us of CPU per command`,
    head: ["scenario", "req/s", "p50 ms", "p99 ms", "workers us", "Redis us", "answers"],
    rows,
  };
}

/** Ratios within one round, so that load of the machine matters less. */
function targetsOf(rounds: Round[]): Table {
  const ratio = (of: (round: Round) => number) => median(rounds.map(of));
  const row = (
    what: string,
    one: Name,
    other: Name,
    target: Target,
    of: (round: Round) => number,
  ) => [
    what,
    ratio(of).toFixed(2),
    ratio((round) => round[one].p50Ms / round[other].p50Ms).toFixed(2),
    ratio((round) => round[one].p99Ms / round[other].p99Ms).toFixed(2),
    verdict(ratio(of), target),
  ];
  const cpu = (one: Name, other: Name, limit: number) =>
    row(
      `CPU ${one} / ${other}`,
      one,
      other,
      { limit },
      (round) => round[one].workerMicros / round[other].workerMicros,
    );
  const rate = (one: Name, other: Name, limit: number) =>
    row(
      `rate ${one} / ${other}`,
      one,
      other,
      { limit, isLeast: true },
      (round) => round[one].perSecond / round[other].perSecond,
    );
  return {
    title: "picks: ratios",
    head: ["ratio", "value", "p50", "p99", "target"],
    rows: [
      cpu("local", "echo", 3),
      cpu("forwarded", "local", 1.8),
      rate("local", "echo", 0.2),
      rate("forwarded", "local", 0.65),
    ],
  };
}

/** One command at a time: the latency a player sees on an idle machine. */
export const single: Scenario = {
  about: "one connection, sequential picks",
  async run({ isQuick }) {
    return withService(2, async (service) => {
      const seats = await startGames(service, 20);
      const rows: string[][] = [];
      for (const [name, isLocal, limit] of [
        ["local", true, 0.5],
        ["forwarded", false, 1.5],
      ] as const) {
        const generator = await openFor(service, 1);
        const jobs = await placedPicks(service, generator, seats, isLocal);
        const given = { generator, jobs, seconds: isQuick ? 2 : 8, ...(await pidsOf(service)) };
        const { p50Ms, p99Ms } = await measureRequests({ ...given, name });
        generator.close();
        rows.push([
          name,
          p50Ms.toFixed(2),
          p99Ms.toFixed(2),
          verdict(p50Ms, { limit, unit: " ms" }),
        ]);
      }
      return [
        { title: "single: one connection", head: ["pick", "p50 ms", "p99 ms", "target"], rows },
      ];
    });
  },
};
