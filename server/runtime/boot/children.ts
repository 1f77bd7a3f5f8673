import cluster, { type Worker } from "node:cluster";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ActorNode } from "../../../actors/index.ts";
import type { LogOutput } from "../../platform/log/log-output.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { childFlags } from "../../platform/config/node-flags.ts";
import { program } from "../../platform/programs.ts";
import {
  roles,
  type ProcessInfo,
  type Question,
  type Role,
  type ToChild,
  type ToPrimary,
} from "../ipc.ts";
import { passLines } from "./child-lines.ts";
import { watchExit } from "./exit-detection.ts";
import { StartError } from "./start-error.ts";

const firstPauseMs = 100;
const maxPauseMs = 10_000;
/** A start takes a core for a second, and the others need it first to take over what the dead process had. */
const takeoverMs = 500;
/** A process that lived this long has earned a quick restart again. */
const stableMs = 10_000;
const maxStartFailures = 3;
const drainLimitMs = 20_000;
const askLimitMs = 1_000;
/** For lines of processes that have ended, if somebody takes them. */
const lastLinesMs = 1_000;
/**
 * A process that answers none of so many questions in a row is frozen: what waits for it waits in vain. One that
 * answers late is busy, and to kill it would leave its work to others who are as busy.
 */
const maxMissedPulses = 5;
const pulseMs = 2_000;

const programs: Record<Role, string> = {
  http: "http-worker",
  jobs: "job-worker",
  operator: "operator",
};
/** Also what the primary was given: a debugger, the loader of sources. */
const execArgv = [...process.execArgv, ...childFlags];

interface Slot {
  role: Role;
  index: number;
  worker: Worker | null;
  isReady: boolean;
  wasReady: boolean;
  startedAt: number;
  restarts: number;
  /** Deaths in a row without a stable life between them. */
  failures: number;
  /** What it has announced, until it is down. */
  nodes: ActorNode[];
  reason: string | null;
  timer: NodeJS.Timeout | null;
  stopWatching: (() => void) | null;
  /** Pulses since the last answer to one. */
  missed: number;
}

export interface ChildrenOptions {
  counts: Record<Role, number>;
  /** What every child gets of the environment besides the primary's own. */
  env: Record<string, string>;
  log: Logger;
  /** Where the lines of all children go. */
  lines: LogOutput;
  /** Called once for each node that a process announced, as soon as the process can do nothing more. */
  onNodeDown: (node: ActorNode) => void;
}

export interface Children {
  /** Resolves with the operator's port when all are ready; rejects with StartError. */
  start(): Promise<{ operatorPort: number | null }>;
  list(): ProcessInfo[];
  /** Drains role after role and waits for the exits. */
  stop(): Promise<void>;
  killAll(): void;
}

/** Forks the processes of the service, restarts what dies, and answers their questions. */
export function createChildren(options: ChildrenOptions): Children {
  const slots = roles.flatMap((role) => slotsOf(role, options.counts[role]));
  let isStopping = false;
  let operatorPort: number | null = null;
  let nextAskId = 1;
  const answers = new Map<number, (value: unknown) => void>();
  const passing = new Set<Promise<void>>();
  let settle: { done: () => void; fail: (error: Error) => void } | null = null;

  const launch = (slot: Slot): void => {
    const exec = program(programs[slot.role]).file;
    const args = [slot.role, String(slot.index)];
    cluster.setupPrimary({ exec, args, execArgv, stdio: ["inherit", "pipe", "inherit", "ipc"] });
    const worker = cluster.fork(options.env);
    const { stdout } = worker.process;
    if (stdout !== null) pass(stdout);
    Object.assign(slot, {
      worker,
      isReady: false,
      startedAt: Date.now(),
      nodes: [],
      reason: null,
      missed: 0,
    });
    worker.on("message", (message: ToPrimary) => receive(slot, message));
    worker.on("error", (error) => options.log.warn({ err: error }, "process link"));
    worker.once("exit", (code, signal) => onExit(slot, code, signal));
  };

  const pass = (stdout: Readable): void => {
    const passed = passLines(stdout, options.lines).finally(() => passing.delete(passed));
    passing.add(passed);
  };

  const receive = (slot: Slot, message: ToPrimary): void => {
    if (message.type === "node") onNode(slot, message.node);
    if (message.type === "failed") slot.reason = message.reason;
    if (message.type === "answer") answers.get(message.id)?.(message.value);
    if (message.type === "ask")
      void collect(message.question).then((value) =>
        send(slot, { type: "answer", id: message.id, value }),
      );
    if (message.type === "ready") {
      slot.isReady = slot.wasReady = true;
      operatorPort = message.port ?? operatorPort;
      if (slots.every((each) => each.isReady)) settle?.done();
    }
  };

  const onNode = (slot: Slot, node: ActorNode): void => {
    slot.nodes.push(node);
    if (slot.stopWatching !== null) return;
    const pid = slot.worker?.process.pid;
    if (pid !== undefined) slot.stopWatching = watchExit(pid, () => onDying(slot));
  };

  const onDying = (slot: Slot): void => {
    slot.isReady = false;
    slot.stopWatching?.();
    slot.stopWatching = null;
    for (const node of slot.nodes) options.onNodeDown(node);
    slot.nodes = [];
  };

  const onExit = (slot: Slot, code: number | null, signal: string | null): void => {
    onDying(slot);
    slot.worker = null;
    if (isStopping) return;
    const isStable = slot.wasReady && Date.now() - slot.startedAt >= stableMs;
    slot.failures = isStable ? 1 : slot.failures + 1;
    const facts = {
      role: slot.role,
      index: slot.index,
      exitCode: code,
      signal,
      reason: slot.reason,
    };
    options.log.error(facts, "process ended unexpectedly");
    if (!slot.wasReady && slot.failures >= maxStartFailures)
      settle?.fail(
        new StartError(
          `a process of role ${slot.role} does not start: ${slot.reason ?? `exit ${signal ?? code}`}`,
        ),
      );
    const hasHeirs = slots.some(({ role, isReady }) => isReady && role === slot.role);
    slot.timer = setTimeout(
      () => {
        slot.restarts++;
        launch(slot);
      },
      restartPauseMs(slot.failures, hasHeirs),
    );
  };

  const ask = (slot: Slot, question: Question, limitMs = askLimitMs): Promise<unknown> => {
    const id = nextAskId++;
    return new Promise((resolve) => {
      const finish = (value: unknown) => {
        clearTimeout(timer);
        answers.delete(id);
        resolve(value);
      };
      const timer = setTimeout(finish, limitMs, null);
      answers.set(id, finish);
      send(slot, { type: "ask", id, question });
    });
  };

  const checkPulse = (slot: Slot): void => {
    const { worker } = slot;
    if (slot.missed >= maxMissedPulses) {
      options.log.error(
        { role: slot.role, index: slot.index },
        "process is frozen and gets killed",
      );
      worker?.process.kill("SIGKILL");
      return;
    }
    slot.missed++;
    void ask(slot, "pulse", maxMissedPulses * pulseMs).then((isAlive) => {
      if (isAlive === true && slot.worker === worker) slot.missed = 0;
    });
  };
  const pulse = setInterval(() => {
    for (const slot of slots) if (slot.isReady) checkPulse(slot);
  }, pulseMs);
  pulse.unref();

  const collect = async (question: Question): Promise<unknown> => {
    if (question === "processes") return list();
    const asked = slots.filter((slot) => slot.isReady && slot.role !== "operator");
    const found = await Promise.all(asked.map((slot) => ask(slot, question)));
    return found.filter((value) => value !== null);
  };

  const list = (): ProcessInfo[] =>
    slots.map(({ role, index, worker, isReady, restarts, startedAt, nodes }) => {
      return {
        role,
        index,
        pid: worker?.process.pid ?? 0,
        isReady,
        restarts,
        startedAt,
        incarnation: nodes[0]?.incarnation ?? null,
      };
    });

  return {
    start: () =>
      new Promise((resolve, reject) => {
        settle = { done: () => resolve({ operatorPort }), fail: reject };
        slots.forEach(launch);
      }),
    list,
    stop: async () => {
      isStopping = true;
      clearInterval(pulse);
      for (const slot of slots) if (slot.timer) clearTimeout(slot.timer);
      for (const role of roles)
        await Promise.all(slots.filter((slot) => slot.role === role).map(drain));
      await Promise.race([Promise.all(passing), sleep(lastLinesMs, null, { ref: false })]);
    },
    killAll: () => {
      isStopping = true;
      for (const slot of slots) slot.worker?.process.kill("SIGKILL");
    },
  };
}

/** How long a process that died `failures` times in a row stays away. */
export function restartPauseMs(failures: number, hasHeirs: boolean): number {
  const pause = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
  return hasHeirs ? Math.max(pause, takeoverMs) : pause;
}

function slotsOf(role: Role, count: number): Slot[] {
  return Array.from({ length: count }, (_, index) => ({
    role,
    index,
    worker: null,
    isReady: false,
    wasReady: false,
    startedAt: 0,
    restarts: 0,
    failures: 0,
    nodes: [],
    reason: null,
    timer: null,
    stopWatching: null,
    missed: 0,
  }));
}

function send(slot: Slot, message: ToChild): void {
  if (slot.worker?.isConnected()) slot.worker.send(message, () => {});
}

/** A process that does not finish in time is killed: stopping always ends. */
async function drain(slot: Slot): Promise<void> {
  const worker = slot.worker;
  if (worker === null || worker.isDead()) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => worker.process.kill("SIGKILL"), drainLimitMs);
    worker.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    send(slot, { type: "stop" });
  });
}
