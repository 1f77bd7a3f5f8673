import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../platform/log/logger.ts";
import { isAlive } from "./orphans.ts";

export interface DaemonOptions {
  name: string;
  command: string;
  args: string[];
  spawn?: Pick<SpawnOptions, "uid" | "gid" | "env" | "cwd">;
  /** True once the server responds. */
  isReady: () => Promise<boolean>;
  /** Runs before every start: removes files of a killed predecessor. */
  prepare: () => Promise<void>;
  /** Signal for an orderly stop. */
  stopSignal: NodeJS.Signals;
  log: Logger;
}

export interface Daemon {
  pid(): number | null;
  /** Resolves when the process has ended; true if it stopped in order. After `limitMs` it is killed. */
  stop(limitMs?: number): Promise<boolean>;
  /** SIGKILL without a restart: simulates the loss of a store in tests. */
  kill(): Promise<void>;
}

const startBudgetMs = 20_000;
const probePauseMs = 20;
const retryPauseMs = 200;
const stopBudgetMs = 10_000;
const maxRestartPauseMs = 5_000;
const keptOutputBytes = 4_096;

/** Starts a server program, restarts it when it ends, and stops it. Rejects with a one-line reason. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const daemon = new RestartedDaemon(options);
  await daemon.start();
  return daemon;
}

class RestartedDaemon implements Daemon {
  readonly #options: DaemonOptions;
  #child: ChildProcess | null = null;
  #state: "running" | "restarting" | "stopping" = "running";

  constructor(options: DaemonOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const child = await startOnce(this.#options, () => this.#isStopping());
    this.#child = child;
    child.once("exit", () => void this.#restart());
    if (hasEnded(child)) void this.#restart();
  }

  pid(): number | null {
    return this.#child?.pid ?? null;
  }

  stop(limitMs = stopBudgetMs): Promise<boolean> {
    return this.#end(this.#options.stopSignal, limitMs);
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL", stopBudgetMs);
  }

  async #end(signal: NodeJS.Signals, limitMs: number): Promise<boolean> {
    this.#state = "stopping";
    if (this.#child) await endProcess(this.#child, signal, limitMs);
    return this.#child?.exitCode === 0;
  }

  /** Retries until it runs again or has to stop. */
  async #restart(): Promise<void> {
    if (this.#state !== "running") return;
    const { log, name } = this.#options;
    this.#state = "restarting";
    log.error({ event: "store_exited", store: name }, "store ended unexpectedly, restarting it");
    for (let pause = retryPauseMs; ; pause = Math.min(pause * 2, maxRestartPauseMs)) {
      await sleep(pause, undefined, { ref: false });
      if (this.#isStopping()) return;
      // The server may end again during this start.
      this.#state = "running";
      try {
        return await this.start();
      } catch (error) {
        if (this.#isStopping()) return;
        this.#state = "restarting";
        const facts = { event: "store_start_failed", store: name, reason: String(error) };
        log.error(facts, "store does not start, retrying");
      }
    }
  }

  /** A stop may arrive during any wait. */
  #isStopping(): boolean {
    return this.#state === "stopping";
  }
}

/** A start soon after a kill can fail once, so it is retried within a time budget. */
async function startOnce(options: DaemonOptions, isStopping: () => boolean): Promise<ChildProcess> {
  const deadline = performance.now() + startBudgetMs;
  for (let attempt = 1; ; attempt++) {
    await options.prepare();
    const output = { text: "" };
    const child = spawnDaemon(options, output);
    if (await becomesReady(child, options, deadline)) {
      if (isStopping()) await endProcess(child, options.stopSignal);
      return child;
    }
    await endProcess(child, "SIGKILL");
    const isLast = attempt >= 5 || performance.now() > deadline || isStopping();
    if (isLast) throw new Error(`${options.name} did not start: ${reasonIn(output.text)}`);
    await sleep(retryPauseMs);
  }
}

/**
 * Its own session: Ctrl-C reaches the whole process group, but stores must outlive the draining processes.
 */
function spawnDaemon(options: DaemonOptions, output: { text: string }): ChildProcess {
  const child = spawn(options.command, options.args, {
    ...options.spawn,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const keep = (chunk: Buffer) => {
    output.text = (output.text + chunk.toString("utf8")).slice(-keptOutputBytes);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  child.on("error", (error) => keep(Buffer.from(error.message)));
  return child;
}

async function becomesReady(
  child: ChildProcess,
  options: DaemonOptions,
  deadline: number,
): Promise<boolean> {
  while (performance.now() < deadline) {
    if (child.pid === undefined || hasEnded(child)) return false;
    if (await options.isReady().catch(() => false)) return true;
    await sleep(probePauseMs);
  }
  return false;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals,
  limitMs = stopBudgetMs,
): Promise<void> {
  const pid = child.pid;
  if (pid === undefined || hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill(signal);
  const limit = new AbortController();
  await Promise.race([ended, sleep(limitMs, undefined, { signal: limit.signal }).catch(() => {})]);
  limit.abort();
  if (isAlive(pid) && !hasEnded(child)) {
    child.kill("SIGKILL");
    await ended;
  }
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Reply of Postgres to the readiness probe, which never contains the reason. */
const answerToProbe = /FATAL: +the database system is /;

/** The line of a program's output with the reason why it ended, else the last lines. */
export function reasonIn(output: string): string {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !answerToProbe.test(line));
  const fatal = lines.filter((line) => /FATAL|PANIC|ERR/i.test(line)).at(-1);
  return fatal ?? (lines.slice(-3).join(" | ") || "no output");
}
