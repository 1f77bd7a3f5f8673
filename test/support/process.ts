import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { builtProgram } from "./programs.ts";
import type { BannerFacts } from "../../server/runtime/startup-banner.ts";
import type { ProcessInfo } from "../../server/runtime/ipc.ts";
import { mayStart, stopsAtEnd } from "./cleanup.ts";
import { eventually } from "./eventually.ts";
import { shared } from "./shared.ts";
import { testDatabase } from "./stores.ts";

export interface ServiceOptions {
  /** Settings besides the free ports and the separate data folder. */
  env?: Record<string, string>;
  /** If given, the folder is kept at the end, for a second start on it. */
  dataDir?: string;
  /** An existing database on the run's Postgres instead of a new server, whose setup takes seconds. */
  sharesPostgres?: boolean;
  /** Folder of another checkout whose service is started. */
  root?: string;
  /** Arguments of Node; default: the built service. */
  program?: string[];
  /** Words before the command, such as those that enter a network namespace. */
  prefix?: readonly string[];
}

export interface Service {
  url: string;
  operatorUrl: string;
  operatorToken: string;
  databaseUrl: string;
  redisUrl: string;
  pid: number;
  dataDir: string;
  /** Read and discarded. */
  stdout: Readable;
  /** As the primary sees them now. */
  processes(): Promise<Process[]>;
  /** Pids of the HTTP workers. */
  workerPids(): Promise<number[]>;
  /** Sends SIGTERM (or another signal); resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Sends SIGKILL to the primary only. */
  kill(): Promise<void>;
}

/** A process of the service; the list has those of other instances too, after its own. */
export interface Process {
  /** Id of its instance. */
  service: string;
  role: ProcessInfo["role"];
  index: number;
  pid: number;
  is_ready: boolean;
  is_draining: boolean;
  num_restarts: number;
  started_at: string;
  incarnation: string | null;
}

export interface FailedStart {
  code: number | null;
  output: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const startLimitMs = 60_000;
const maxOutput = 64 * 1024;

/** Environment of a separate service: free ports, its own folder, one worker of each kind. */
export function serviceEnv(dataDir: string, env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    TMPDIR: process.env["TMPDIR"],
  };
  const own = {
    PORT: "0",
    OPERATOR_LISTEN: "127.0.0.1:0",
    DATA_DIR: dataDir,
    IMPORT_DIR: dataDir,
    HTTP_WORKERS: "1",
    JOB_WORKERS: "1",
    // The import would use processor time of the test.
    SAMPLE_DATA: "false",
  };
  return { ...inherited, LOG_LEVEL: "error", ...own, ...env };
}

export function temporaryDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "ember-data-"));
  chmodSync(dir, 0o755);
  return dir;
}

/** Starts the whole service as `npm start` does and waits until it is ready. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? temporaryDataDir();
  const database = options.sharesPostgres ? await testDatabase({ isStarted: true }) : null;
  const clean = async () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    await database?.drop();
  };
  const env = { ...options.env, ...(database ? { DATABASE_URL: database.url } : {}) };
  const { child, output } = launch(
    serviceEnv(dataDir, env),
    options.program ?? serviceProgram(options.root),
    options.root,
    options.prefix,
  );
  const facts = await readyFacts(child, output).catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  const end = (signal: NodeJS.Signals) => endProcess(child, signal);
  const token = facts.operatorToken;
  const processes = () => fetchProcesses(facts.operatorUrl, token);
  return {
    url: facts.url,
    operatorUrl: facts.operatorUrl,
    operatorToken: token,
    databaseUrl: facts.databaseUrl,
    redisUrl: facts.redisUrl,
    pid: facts.pid,
    dataDir,
    stdout: child.stdout as Readable,
    processes,
    workerPids: async () =>
      (await processes()).filter(({ role }) => role === "http").map(({ pid }) => pid),
    stop: async (signal = "SIGTERM") => {
      const code = await end(signal);
      await clean();
      return code;
    },
    kill: async () => {
      await end("SIGKILL");
    },
  };
}

/**
 * Starts the operator process, which otherwise starts with the first request to its listener: amid a load, or with that
 * request refused where the machine is busy.
 */
export async function wakeOperator(service: Service): Promise<void> {
  const deadline = performance.now() + startLimitMs;
  for (;;)
    try {
      return void (await service.processes());
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(100);
    }
}

/** Orders the drain of an HTTP worker at the operator listener, which answers 202 or refuses. */
export const drainWorker = (
  { operatorUrl, operatorToken }: Pick<Service, "operatorUrl" | "operatorToken">,
  index: number,
): Promise<Response> =>
  fetch(`${operatorUrl}/operator/workers/${index}/drain`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ reason: "a test" }),
  });

/** Resolves when another process is ready in the place of this one. */
export const awaitSuccessor = (service: Service, { role, index, pid }: Process): Promise<void> =>
  eventually(`${role} ${index} is replaced`, async () =>
    (await service.processes()).some(
      (one) => one.role === role && one.index === index && one.is_ready && one.pid !== pid,
    ),
  );

/** One service shared by tests without special settings that do no harm. */
export const sharedService = shared(
  () => startService({ sharesPostgres: true }),
  (service) => service.stop(),
);

/** Starts a service that is expected to fail. */
export async function failToStart(env: NodeJS.ProcessEnv): Promise<FailedStart> {
  const { child, output } = launch(env);
  const timer = setTimeout(() => child.kill("SIGTERM"), startLimitMs);
  await once(child, "close");
  clearTimeout(timer);
  return { code: child.exitCode, output: output.text };
}

/** Starts a service or a command and sends it the signal after `untilTime`; resolves to the exit code. */
export async function stopWhileStarting(
  env: NodeJS.ProcessEnv,
  untilTime: () => Promise<void>,
  { program = serviceProgram(), signal = "SIGTERM" as NodeJS.Signals } = {},
): Promise<number | null> {
  const { child } = launch(env, program);
  const exited = once(child, "exit");
  await untilTime();
  child.kill(signal);
  await exited;
  return child.exitCode;
}

/** An old checkout without a build, used by benches, starts from its sources. */
function serviceProgram(from = root): string[] {
  const guard = join(from, "server/core/node-guard.mjs");
  return existsSync(guard)
    ? ["--import", guard, "--disable-warning=ExperimentalWarning", "server/main.ts"]
    : builtProgram("primary", from);
}

function launch(
  env: NodeJS.ProcessEnv,
  program = serviceProgram(),
  cwd = root,
  prefix: readonly string[] = [],
): { child: ChildProcess; output: { text: string } } {
  mayStart();
  const [command = "", ...args] = [...prefix, process.execPath, ...program];
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const stop = stopsAtEnd(() => endProcess(child, "SIGTERM"));
  child.once("close", () => void stop());
  const output = { text: "" };
  const keep = (chunk: Buffer) => {
    output.text = (output.text + chunk.toString("utf8")).slice(-maxOutput);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return { child, output };
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
  return child.exitCode;
}

function readyFacts(child: ChildProcess, output: { text: string }): Promise<BannerFacts> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGTERM");
    }, startLimitMs);
    child.once("message", (message: { type: "ready"; facts: BannerFacts }) => {
      clearTimeout(timer);
      child.removeAllListeners("exit");
      // The output is unused, and under load keeping it would cost as much as writing it.
      for (const stream of [child.stdout, child.stderr])
        stream?.removeAllListeners("data").resume();
      resolve(message.facts);
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      const end = isLate ? `took more than ${startLimitMs / 1_000} s` : `ended with ${code}`;
      reject(new Error(`the service ${end} before it was ready:\n${output.text}`));
    });
  });
}

async function fetchProcesses(operatorUrl: string, token: string): Promise<Process[]> {
  const response = await fetch(`${operatorUrl}/operator/workers`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`/operator/workers: ${response.status}`);
  const answer = (await response.json()) as { body: { workers: Process[] } };
  const { workers } = answer.body;
  return workers.filter(({ service }) => service === workers[0]?.service);
}
