import type { Socket } from "node:net";
import type { RoomNode, LocatedRoom, OwnedRooms, Takeover } from "../../actors/index.ts";
import {
  Questions,
  type AnswerMessage,
  type AskMessage,
  type Question,
  type SubjectOf,
} from "./process-questions.ts";
import { fleetWaits } from "./fleet/limits.ts";
import type { RoomFacts } from "../features/rooms/domain/room-kind.ts";
import type { Instance } from "../platform/instance.ts";
import type { AwaySince, ProbeAnswers } from "../platform/probes.ts";
import { flushLog, type Logger } from "../platform/log/logger.ts";

/** The process roles of a service, in the order in which they stop. */
export const roles = ["http", "jobs", "operator"] as const;
export type Role = (typeof roles)[number];

/** A process as the primary sees it. */
export interface ProcessInfo {
  role: Role;
  index: number;
  pid: number;
  isReady: boolean;
  /** It drains, or will once balancers have noticed. */
  isDraining: boolean;
  restarts: number;
  startedAt: number;
  /** Node id of the first kind of actor in the process. */
  nodeId: string | null;
  /** This start of the process; null until it is ready. */
  instance: Instance | null;
}

/** The answer of a process to "rooms", by kind. */
export interface RoomsReport {
  pid: number;
  kinds: Record<string, OwnedRooms>;
}

/** The answer of a process to "room". */
export interface RoomReport {
  /** Its instance id. */
  process: string;
  /** False: it was not asked to read the room. */
  hasRead: boolean;
  room: LocatedRoom | null;
  /** What its kind says about it. */
  facts: RoomFacts | null;
}

/** The instance as its primary sees it; every process gets it at its start and at each change. */
export interface InstanceState {
  probes: ProbeAnswers;
  /** It will stop or drain its last worker, and still serves: responses close their connections (BOOT-10). */
  isLeaving: boolean;
  awaySince: AwaySince;
}

/** How a process ends. */
export interface StopOrder {
  /** The primary kills the process after this time. */
  limitMs: number;
  /** The service runs on without it, so there is time for idle connections to end by themselves. */
  isDrain: boolean;
}

export type ToPrimary =
  | { type: "ready"; instance: Instance }
  /** It received SIGTERM, and wants to be replaced. */
  | { type: "terminated" }
  /** Sent once per kind of actor in this process, for its node-down notice. */
  | { type: "node"; node: RoomNode }
  /** The database is prepared for this version of the service. */
  | { type: "prepared" }
  /** Whether the process has actors in memory, which others take over as soon as it exits. */
  | { type: "occupied"; isOccupied: boolean }
  /** The process owns shards of another one, which did not hand them over. */
  | { type: "takeover"; takeover: Takeover }
  /** One readable line; the process then ends. Final: a retry would fail the same way. */
  | { type: "failed"; reason: string; isFinal: boolean }
  | AskMessage
  | AnswerMessage;

export type ToChild =
  /**
   * The first message; until then a process only loads its code. `prepares`: it prepares the database for
   * all processes. `index`: its slot among the processes of its role; its replacement gets the same slot.
   */
  | { type: "start"; prepares: boolean; index: number }
  /** Drain and exit; a second one means immediately. */
  | ({ type: "stop" } & StopOrder)
  | { type: "state"; state: InstanceState }
  /** Sent with a connection, which the process then owns; `received` of the same id follows. */
  | { type: "take"; id: number }
  /** What the primary has read from the connection, in base64; null if the transfer failed. */
  | { type: "received"; id: number; bytes: string | null }
  | AskMessage
  | AnswerMessage;

const askTimeoutMs = 2_000;
/** A drain may be ordered at another instance. */
const drainTimeoutMs = fleetWaits.drain + askTimeoutMs;
const maxPendingAsks = 64;

export interface PrimaryLink {
  ready(instance: Instance): void;
  announce(node: RoomNode): void;
  /** Asks the primary; null if it does not answer in time. */
  ask<Q extends Question>(question: Q, about?: SubjectOf<Q>): Promise<unknown>;
}

export interface ChildOptions {
  log: Logger;
  /** Drains; the process exits with 0 when it resolves. */
  stop: (order: StopOrder) => Promise<void>;
  answers: { [Q in Question]?: (about: SubjectOf<Q>) => Promise<unknown> | unknown };
  /** Serves a connection of the primary, which has read `received` from it. */
  take?: (connection: Socket, received: Buffer) => void;
  onState?: (state: InstanceState) => void;
  /** SIGTERM reports to the primary, which replaces the process unless the whole service stops. */
  drainsBySignal?: boolean;
}

/**
 * The child's end of the channel. Terminal signals reach the whole process group, but only the primary
 * knows the order of stopping, so children ignore them. A child ends when its primary is gone.
 */
export function joinPrimary(options: ChildOptions): PrimaryLink {
  let stops = 0;
  const questions = new Questions(report, maxPendingAsks);
  const takeConnection = createTaker(options);
  process.off("message", stopWhileStarting);
  process.on("message", (message: ToChild, connection?: Socket) => {
    switch (message.type) {
      case "take":
      case "received":
        return takeConnection(message, connection);
      case "state":
        return options.onState?.(message.state);
      case "answer":
        return questions.receive(message);
      case "ask":
        void answer(options, message);
        return;
      case "stop":
        return endProcess(options, message, ++stops);
    }
  });
  if (options.drainsBySignal) process.on("SIGTERM", () => report({ type: "terminated" }));
  return {
    ready: (instance) => report({ type: "ready", instance }),
    announce: (node) => report({ type: "node", node }),
    ask: (question, about) =>
      questions.ask(question, question === "drain" ? drainTimeoutMs : askTimeoutMs, about),
  };
}

/** A lost channel ends the process. */
function report(message: ToPrimary): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

export const reportPrepared = (): void => report({ type: "prepared" });

export const reportOccupied = (isOccupied: boolean): void =>
  report({ type: "occupied", isOccupied });

export const reportTakeover = (takeover: Takeover): void => report({ type: "takeover", takeover });

/** The primary's order to start. */
export type StartOrder = Extract<ToChild, { type: "start" }>;

/** A process that is still starting has nothing in flight and may end immediately. */
function stopWhileStarting(message: ToChild): void {
  if (message.type === "stop") process.exit(0);
}

/**
 * Called first in every child, because the time without a handler must be as short as possible. Resolves
 * when the primary sends the start order.
 */
export function prepareChild(): Promise<StartOrder> {
  const { promise, resolve } = Promise.withResolvers<StartOrder>();
  process.on("message", stopWhileStarting);
  process.on("message", (message: ToChild) => {
    if (message.type === "start") resolve(message);
  });
  process.on("disconnect", () => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  return promise;
}

async function answer(
  { answers }: ChildOptions,
  { id, question, about }: AskMessage,
): Promise<void> {
  // The subject is that of the question: both come from one typed `ask`.
  const answerer = answers[question] as ((about: unknown) => unknown) | undefined;
  const found = async () => (question === "pulse" ? true : answerer?.(about));
  const value = await found().catch(() => null);
  report({ type: "answer", id, value: value ?? null });
}

/** Joins each connection with the bytes that follow it; one that the client closed on the way has no handle. */
function createTaker({ take }: ChildOptions) {
  const taken = new Map<number, Socket>();
  return (
    message: Extract<ToChild, { type: "take" | "received" }>,
    connection: Socket | undefined,
  ): void => {
    if (message.type === "take") {
      if (connection) taken.set(message.id, connection);
      return;
    }
    const known = taken.get(message.id);
    taken.delete(message.id);
    if (message.bytes === null) known?.destroy();
    else if (known) take?.(known, Buffer.from(message.bytes, "base64"));
  };
}

function endProcess(options: ChildOptions, order: StopOrder, stops: number): void {
  if (stops > 1) process.exit(0);
  void options
    .stop(order)
    .catch((error: unknown) =>
      options.log.error({ event: "stop_failed", err: error }, "stopping failed, exiting anyway"),
    )
    .then(() => flushLog(options.log))
    .finally(() => process.exit(0));
}
