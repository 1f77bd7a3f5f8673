import { readArguments, refuse, wholeNumber } from "../test/support/arguments.ts";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { floorBenches } from "./floor-benches.ts";
import { peerNames } from "./peers/named.ts";
import { printTable } from "./report.ts";
import type { EverydaySizes, RollingSizes, Scenarios } from "./floor-scenario.ts";

/**
 * `npm run bench -- floor <name> [scenario...] [<name>...] [--quick]`: everything that is compared runs in the
 * same run. A word that names a scenario of the bench before it is that one, any other is a bench.
 */
const form =
  "npm run bench -- floor <name> [scenario...] [<name>...] [--quick]\n" +
  "  lobby everyday: [--rates 400,800,2800] [--lobbies 200] [--streams 8] [--rounds 12] [--seconds 20]\n" +
  "                  [--workers 1,2] [--follow] [--beside <another checkout>] [--peers socketio,socketio-streams,colyseus]\n" +
  "  rolling:        [--rate 200] [--streams 1000] [--games 60] [--seconds 20]";

function usage(reason: string, choices: Record<string, { about: string }>): never {
  const lines = Object.entries(choices).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
  return refuse([form, ...lines].join("\n"), reason);
}

const { values, positionals } = readArguments(form, {
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    rates: { type: "string", default: "400,800,2800" },
    lobbies: { type: "string", default: "200" },
    streams: { type: "string" },
    rate: { type: "string" },
    games: { type: "string" },
    rounds: { type: "string", default: "12" },
    seconds: { type: "string", default: "20" },
    workers: { type: "string", default: "1,2" },
    follow: { type: "boolean", default: false },
    beside: { type: "string" },
    peers: { type: "string", default: "" },
  },
});

function peerList(text: string): string[] {
  const names = text === "" ? [] : text.split(",");
  const unknown = names.find((name) => !peerNames.includes(name));
  return unknown === undefined
    ? names
    : refuse(form, `there is no peer "${unknown}", only ${peerNames.join(", ")}`);
}

function everydaySizes(): EverydaySizes {
  const number = (name: string, text: string) => wholeNumber(form, `--${name}`, text);
  const list = (name: string, text: string) => text.split(",").map((one) => number(name, one));
  return {
    rates: list("rates", values.rates),
    lobbies: number("lobbies", values.lobbies),
    streams: number("streams", values.streams ?? "8"),
    rounds: number("rounds", values.rounds),
    seconds: number("seconds", values.seconds),
    workers: list("workers", values.workers),
    follow: values.follow,
    beside: values.beside ?? null,
    peers: peerList(values.peers),
  };
}

function rollingSizes(): RollingSizes {
  const { quick } = values;
  const size = (name: "rate" | "streams" | "games", usual: string, short: string) =>
    wholeNumber(form, `--${name}`, values[name] ?? (quick ? short : usual));
  return {
    perSecond: size("rate", "200", "50"),
    streams: size("streams", "1000", "100"),
    games: size("games", "60", "10"),
    seconds: wholeNumber(form, "--seconds", values.seconds),
  };
}

const chosen: { scenarios: Scenarios; only: Set<string> }[] = [];
for (const word of positionals) {
  const last = chosen.at(-1);
  const bench = floorBenches[word];
  if (last?.scenarios[word]) last.only.add(word);
  else if (bench) chosen.push({ ...(await bench.load()), only: new Set() });
  else
    usage(
      `there is no ${last ? "scenario or bench" : "bench"} "${word}"`,
      last?.scenarios ?? floorBenches,
    );
}
if (chosen.length === 0) usage("which bench?", floorBenches);

async function runChosen(): Promise<number> {
  const options = {
    isQuick: values.quick,
    everyday: everydaySizes(),
    rolling: rollingSizes(),
  };
  for (const { scenarios, only } of chosen)
    for (const [name, scenario] of Object.entries(scenarios)) {
      if (only.size > 0 && !only.has(name)) continue;
      process.stderr.write(`${name}: ${scenario.about}\n`);
      for (const table of await scenario.run(options)) printTable(table);
    }
  return 0;
}

process.exit(await inOwnFolder(runChosen));
