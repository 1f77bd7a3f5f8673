import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { mayStart, stopAll, stopsAtEnd } from "../test/support/cleanup.ts";
import { freePort } from "../test/support/free-port.ts";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { within } from "./load/deadline.ts";
import { LocalGames } from "./local-games.ts";
import { note, printTable } from "./report.ts";
import { exitCodes } from "./report/build.ts";

/**
 * `npm run bench -- newcomer`: from a clone of this checkout through the two commands of the README to the end of the
 * first game. It fails with the first part that fails or is not over in its time.
 */

/** A part of the way, and the seconds it may take. */
interface Part {
  name: string;
  mostSeconds: number;
  run(): Promise<unknown>;
}

const root = join(import.meta.dirname, "..");
const maxOutput = 4_000;
const pollMs = 50;
const stopMs = 30_000;

function partsOf(port: number): Part[] {
  const folder = tmpdir();
  const clone = join(folder, "emberline");
  const url = `http://127.0.0.1:${port}`;
  const run = (cwd: string, ...words: string[]) => typeCommand(words, cwd, newcomerEnv(port));
  return [
    { name: "git clone", mostSeconds: 60, run: () => run(folder, "git", "clone", root, clone) },
    { name: "npm ci", mostSeconds: 300, run: () => run(clone, "npm", "ci") },
    {
      name: "npm start",
      mostSeconds: 60,
      run: () => Promise.race([run(clone, "npm", "start"), isReady(url)]),
    },
    { name: "first game", mostSeconds: 60, run: () => playFirstGame(url) },
  ];
}

/** Without the programs of this checkout, which `npm run` puts into the path. */
function newcomerEnv(port: number): NodeJS.ProcessEnv {
  const { PATH = "", HOME, TMPDIR, npm_config_cache } = process.env;
  const path = PATH.split(delimiter).filter((one) => !one.startsWith(root));
  const settings = { PORT: String(port), OPERATOR_LISTEN: "127.0.0.1:0" };
  return { HOME, TMPDIR, npm_config_cache, PATH: path.join(delimiter), ...settings };
}

/** A command as at a prompt: in a process group of its own, which gets a Ctrl-C at the end if it still runs. */
async function typeCommand(words: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [command = "", ...args] = words;
  mayStart();
  const child = spawn(command, args, { cwd, env, detached: true });
  const exited = once(child, "exit") as Promise<[number | null]>;
  stopsAtEnd(async () => {
    const { pid, exitCode, signalCode } = child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, "SIGINT");
    await within(stopMs, "its end", exited).catch(() => process.kill(-pid, "SIGKILL"));
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => (output = `${output}${String(chunk)}`.slice(-maxOutput)));
  const [code] = await exited;
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${output}`);
}

async function isReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/v1/health-check`).catch(() => null))?.ok) await pause(pollMs);
}

/** Three questions for two players with human pauses. Throws if the service broke a promise or failed a request. */
async function playFirstGame(url: string): Promise<void> {
  const games = new LocalGames(url);
  await games.play(1, { seats: 2, questions: 3, timer: 20, thinkMs: [300, 1_500] });
  const wrong = games.problems();
  if (wrong.length > 0) throw new Error(`the game went wrong: ${wrong.join("; ")}`);
}

/** Goes the whole way; `problem` says which part failed or did not end in time. */
export async function goAll(parts: readonly Part[]) {
  const rows: string[][] = [];
  const secondsFrom = (start: number) => ((performance.now() - start) / 1000).toFixed(1);
  const startedAt = performance.now();
  try {
    for (const { name, mostSeconds, run } of parts) {
      note(name);
      const from = performance.now();
      await within(mostSeconds * 1000, `the end of "${name}"`, run());
      rows.push([name, secondsFrom(from), String(mostSeconds)]);
    }
    rows.push(["in all", secondsFrom(startedAt), ""]);
    return { rows, problem: null };
  } catch (error) {
    return { rows, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function welcome(): Promise<number> {
  const { rows, problem } = await goAll(partsOf(await freePort()));
  printTable({ title: "from a clone to the first game", head: ["part", "s", "at most"], rows });
  if (problem !== null) note(problem);
  await stopAll();
  return problem === null ? exitCodes.passed : exitCodes.failed;
}

/** The command. */
export const main = async (): Promise<void> => process.exit(await inOwnFolder(welcome));
