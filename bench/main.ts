import { readArguments, refuse } from "../test/support/arguments.ts";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { printTable } from "./report.ts";
import type { Scenarios } from "./scenario.ts";

/**
 * `npm run bench -- <name> [scenario...] [<name>...] [--quick]`: everything that is compared runs in the
 * same run. A word that names a scenario of the bench before it is that one, any other is a bench.
 */
const benches: Record<string, { about: string; load: () => Promise<{ scenarios: Scenarios }> }> = {
  http: {
    about: "the HTTP stack and a committed lobby pick against raw uWebSockets.js",
    load: () => import("./http.ts"),
  },
  codex: {
    about: "imports against a bare COPY, reads of the archive against raw uWebSockets.js",
    load: () => import("./codex/index.ts"),
  },
  leaderboard: {
    about: "leaderboards of a million players against bare commands of Redis and Postgres",
    load: () => import("./leaderboard.ts"),
  },
  trivia: {
    about: "questions drawn and answered against raw uWebSockets.js",
    load: () => import("./trivia.ts"),
  },
  wallet: {
    about: "awards against a bare transaction of Postgres",
    load: () => import("./wallet.ts"),
  },
  avatars: {
    about: "icons against constant bytes; uploads to their verdict",
    load: () => import("./avatars.ts"),
  },
  projection: {
    about: "rebuilds of the typed rows against TRUNCATE+INSERT, what readers notice, list reads",
    load: () => import("./projection/index.ts"),
  },
  hub: {
    about: "event streams against raw uWebSockets.js and, where installed, Nchan",
    load: () => import("./hub/index.ts"),
  },
  identity: {
    about: "logins against bare argon2, refreshes, reads beside logins, answers about nobody",
    load: () => import("./identity/index.ts"),
  },
  lobby: {
    about: "lobby commands: committed, forwarded, with subscribers; memory of idle lobbies",
    load: () => import("./lobby/index.ts"),
  },
};

const form = "npm run bench -- <name> [scenario...] [<name>...] [--quick]";

function usage(reason: string, choices: Record<string, { about: string }>): never {
  const lines = Object.entries(choices).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
  return refuse([form, ...lines].join("\n"), reason);
}

const { values, positionals } = readArguments(form, {
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } },
});
const chosen: { scenarios: Scenarios; only: Set<string> }[] = [];
for (const word of positionals) {
  const last = chosen.at(-1);
  const bench = benches[word];
  if (last?.scenarios[word]) last.only.add(word);
  else if (bench) chosen.push({ ...(await bench.load()), only: new Set() });
  else
    usage(
      `there is no ${last ? "scenario or bench" : "bench"} "${word}"`,
      last?.scenarios ?? benches,
    );
}
if (chosen.length === 0) usage("which bench?", benches);

async function runChosen(): Promise<number> {
  for (const { scenarios, only } of chosen)
    for (const [name, scenario] of Object.entries(scenarios)) {
      if (only.size > 0 && !only.has(name)) continue;
      process.stderr.write(`${name}: ${scenario.about}\n`);
      for (const table of await scenario.run({ isQuick: values.quick })) printTable(table);
    }
  return 0;
}

process.exit(await inOwnFolder(runChosen));
