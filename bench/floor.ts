import { Command, InvalidArgumentError } from "commander";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { floorBenches } from "./floor-benches.ts";
import { peerNames } from "./peers/named.ts";
import { printTable } from "./report.ts";
import type { BenchOptions, RoomSizes, Scenarios } from "./floor-scenario.ts";

/**
 * `npm run bench -- floor <name> [scenario...] [<name>...]`: everything that is compared runs in the same run. A word that
 * names a scenario of the bench before it is that one, any other is a bench.
 */
const count = (text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
};
const counts = (text: string): number[] => text.split(",").map(count);
const peers = (text: string): string[] => {
  const names = text.split(",");
  if (names.every((name) => peerNames.includes(name))) return names;
  throw new InvalidArgumentError(`A peer is ${peerNames.join(", ")}.`);
};

const listOf = (all: Record<string, { about: string }>) =>
  Object.entries(all).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);

const program = new Command("npm run bench -- floor")
  .argument("<names...>", "benches, each followed by some of its scenarios; without them all")
  .option("--quick", "short runs with coarse numbers")
  .option("--rates <per second>", "hub, lobby: commands, as 400,800", counts)
  .option("--lobbies <number>", "hub, lobby", count)
  .option("--streams <number>", "hub, lobby: of a lobby; rolling: in all", count)
  .option("--rounds <number>", "hub, lobby", count)
  .option("--seconds <number>", "hub, lobby: of a round; rolling: of the control run", count)
  .option("--workers <numbers>", "lobby: HTTP workers, as 1,2", counts)
  .option("--follow", "lobby: also with clients that follow the owner of a lobby")
  .option("--peers <names>", `hub, lobby: ${peerNames.join(",")}`, peers, [])
  .option("--rate <per second>", "rolling: requests", count)
  .option("--games <number>", "rolling: at a time", count)
  .showHelpAfterError()
  .addHelpText("after", ["\nBenches:", ...listOf(floorBenches)].join("\n"))
  .parse();

type Options = RoomSizes & { quick?: true; rate?: number; games?: number };

function optionsOf({ quick, rate, games, ...rooms }: Options): BenchOptions {
  const [perSecond, streams, numGames] = quick ? [50, 100, 10] : [200, 1000, 60];
  const rolling = {
    ...{ perSecond: rate ?? perSecond, streams: rooms.streams ?? streams },
    ...{ games: games ?? numGames, seconds: rooms.seconds ?? 20 },
  };
  return { isQuick: quick === true, rooms, rolling };
}

/** In one line, before the usage, which names the benches. */
function refuse(word: string, before: Chosen | undefined): never {
  if (before === undefined) return program.error(`"${word}" is no bench`);
  const scenarios = Object.keys(before.scenarios).join(", ");
  return program.error(
    `"${word}" is neither a scenario of ${before.name} (${scenarios}) nor a bench`,
  );
}

interface Chosen {
  name: string;
  scenarios: Scenarios;
  only: Set<string>;
}

const chosen: Chosen[] = [];
for (const word of program.args) {
  const last = chosen.at(-1);
  const bench = floorBenches[word];
  if (last?.scenarios[word]) last.only.add(word);
  else if (bench) chosen.push({ name: word, scenarios: await bench.load(), only: new Set() });
  else refuse(word, last);
}

async function runChosen(): Promise<number> {
  const options = optionsOf(program.opts());
  for (const { scenarios, only } of chosen)
    for (const [name, scenario] of Object.entries(scenarios)) {
      if (only.size > 0 && !only.has(name)) continue;
      process.stderr.write(`${name}: ${scenario.about}\n`);
      for (const table of await scenario.run(options)) printTable(table);
    }
  return 0;
}

process.exit(await inOwnFolder(runChosen));
