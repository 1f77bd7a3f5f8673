import type { Redis } from "ioredis";
import type { FleetInstance } from "../../runtime/fleet/entry.ts";
import { readProblems, type FleetProblem } from "../../runtime/fleet/problems.ts";
import { readFleet } from "../../runtime/fleet/registry.ts";
import { unregisteredNodes } from "../../runtime/fleet/unregistered.ts";
import type { PrimaryLink, ProcessInfo } from "../../runtime/ipc.ts";
import type { AllQuestion, FleetAnswer, ProcessFigures } from "../../runtime/process-questions.ts";
import { within } from "../health/stores.ts";

/** The processes of one instance. */
export interface InstanceProcesses {
  /** Instance id of its primary. */
  service: string;
  host: string;
  /** Null: it does not answer. */
  processes: ProcessInfo[] | null;
}

export interface FleetProcesses {
  /** First those of this instance; empty if its primary does not respond. */
  list(): Promise<InstanceProcesses[]>;
  /** By instance id of the process; one that does not answer is left out. */
  figures(): Promise<ReadonlyMap<string | undefined, ProcessFigures>>;
}

/** The fleet as the registry has it; null while Redis does not respond. */
export interface FleetView {
  instances: FleetInstance[];
  problems: FleetProblem[];
  /** Node ids of HTTP workers that no registered instance names. */
  unregistered: string[];
}

export interface FleetSources {
  fleetProcesses: FleetProcesses;
  fleet(): Promise<FleetView | null>;
  /** Empty while Redis does not respond. */
  fleetProblems(): Promise<FleetProblem[]>;
  /** What all processes of all instances answer, each with the host of its instance. */
  fromFleet<T>(
    question: AllQuestion["question"],
    about?: unknown,
  ): Promise<{ host: string; answer: T }[]>;
}

/** Reads the registry in Redis, and asks the primary, which asks those of the other instances. */
export function createFleetSources(link: Pick<PrimaryLink, "ask">, redis: Redis): FleetSources {
  const ask = async (question: AllQuestion["question"], about?: unknown) => {
    const found = await within(link.ask("fleet", { question, about }), null);
    return Array.isArray(found) ? (found as FleetAnswer[]) : [];
  };
  const fromFleet = async <T>(question: AllQuestion["question"], about?: unknown) =>
    (await ask(question, about)).flatMap(({ host, answer }) =>
      Array.isArray(answer) ? (answer as T[]).map((one) => ({ host, answer: one })) : [],
    );
  const list = async () =>
    (await ask("processes")).map(({ instance, host, answer }) => ({
      ...{ service: instance, host },
      processes: Array.isArray(answer) ? (answer as ProcessInfo[]) : null,
    }));
  const figures = async () => {
    const found = await fromFleet<ProcessFigures>("figures");
    return new Map(found.map(({ answer }) => [answer.process, answer]));
  };
  /** A process that has just started is named by its instance before the registry has it. */
  const unregistered = async () => {
    const named = (await list()).flatMap(({ processes }) => processes ?? []);
    return unregisteredNodes(
      redis,
      named.flatMap(({ nodeId }) => nodeId ?? []),
    );
  };
  const read = async (): Promise<FleetView> => {
    const [instances, problems, unknown] = await Promise.all([
      readFleet(redis),
      readProblems(redis),
      unregistered(),
    ]);
    return { instances, problems, unregistered: unknown };
  };
  return {
    fleetProcesses: { list, figures },
    fleet: () => within<FleetView | null>(read(), null),
    fleetProblems: () => within<FleetProblem[]>(readProblems(redis), []),
    fromFleet,
  };
}
