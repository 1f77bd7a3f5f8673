import { setTimeout as sleep } from "node:timers/promises";
import { shutdownDelaySeconds } from "../platform/config/shutdown.ts";
import type { Config } from "../platform/config/config.ts";
import { leaseMs } from "../runtime/fleet/registry.ts";
import { Refusal } from "./command.ts";
import { OperatorApi } from "./operator-api.ts";

/** An HTTP worker as `/operator/workers` shows it. */
interface Worker {
  service: string;
  host: string;
  role: string;
  index: number;
  pid: number;
  is_ready: boolean;
  is_draining: boolean;
  /** Name of this start. */
  instance: string | null;
}

interface WorkersAnswer {
  workers: Worker[];
}

interface FleetAnswer {
  instances: { id: string; host: string }[] | null;
  unregistered: string[];
}

const pollMs = 500;
/** Longest waits in milliseconds; others for tests. */
const usualWaits = {
  /** Until every instance answers. One that died has a lease for a while. */
  completeMs: leaseMs + pollMs,
  /** From the end of the delay to a ready successor, on a busy machine. */
  replaceMs: 90_000,
};

/** Writes a line about what has been done. */
export type Progress = (line: string) => void;

/**
 * Replaces the HTTP workers of all instances, one after the other; ends at the first that is not replaced. Refused if
 * not all instances can be asked: an instance that is left out would go on with what the others have lost.
 */
export async function restartFleet(
  config: Config,
  reason: string,
  report: Progress,
  waits: Partial<typeof usualWaits> = {},
): Promise<Record<string, unknown>> {
  const api = new OperatorApi(config);
  const { completeMs, replaceMs } = { ...usualWaits, ...waits };
  const workers = await listWorkers(api, report, completeMs);
  const limitMs = shutdownDelaySeconds(config) * 1_000 + replaceMs;
  for (const [i, worker] of workers.entries()) {
    const place = `${i + 1} of ${workers.length}: ${nameOf(worker)}`;
    report(`${place} drains`);
    const successor = await replace(api, worker, reason, limitMs).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Refusal(`${why}\nfleet:incomplete ${i} of ${workers.length} workers are replaced`);
    });
    report(`${place} is replaced, pid ${successor.pid}`);
  }
  const numInstances = new Set(workers.map(({ service }) => service)).size;
  return { num_instances: numInstances, num_workers: workers.length };
}

const nameOf = ({ index, host, service }: Worker) => `http ${index} of ${host} (${service})`;

/** The HTTP workers of all instances. */
async function listWorkers(
  api: OperatorApi,
  report: Progress,
  completeMs: number,
): Promise<Worker[]> {
  const giveUpAt = performance.now() + completeMs;
  for (let isFirst = true; ; isFirst = false) {
    const found = await readWorkers(api);
    if (typeof found !== "string") return found;
    if (performance.now() >= giveUpAt) throw new Refusal(found);
    if (isFirst) report(`waits: ${found}`);
    await sleep(pollMs);
  }
}

/** The HTTP workers, or what keeps them from being complete. */
async function readWorkers(api: OperatorApi): Promise<Worker[] | string> {
  const fleet = await api.get<FleetAnswer>("/operator/fleet");
  if (fleet.instances === null)
    return "fleet:unknown Redis does not respond: the instances are unknown";
  if (fleet.unregistered.length > 0)
    return `fleet:unregistered HTTP workers of instances that do not register, as those of an earlier release: ${fleet.unregistered.join(", ")}; restart or stop these first`;
  const { workers } = await api.get<WorkersAnswer>("/operator/workers");
  const known = new Set(workers.map(({ service }) => service));
  const silent = fleet.instances.filter(({ id }) => !known.has(id));
  if (silent.length === 0) return workers.filter(({ role }) => role === "http");
  return `fleet:unanswered instances that do not answer: ${silent.map(({ host, id }) => `${host} (${id})`).join(", ")}`;
}

/** Drains a worker; resolves to its successor once that is ready. */
async function replace(
  api: OperatorApi,
  old: Worker,
  reason: string,
  limitMs: number,
): Promise<Worker> {
  const { index, service } = old;
  await api.post(`/operator/workers/${index}/drain`, { reason, service });
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const { workers } = await api.get<WorkersAnswer>("/operator/workers");
    const now = workers.find(
      (one) => one.service === service && one.role === "http" && one.index === index,
    );
    if (now?.is_ready && now.instance !== old.instance) return now;
    if (now?.is_ready && !now.is_draining)
      throw new Refusal(`worker:last ${nameOf(old)} goes on, because no other one is ready`);
    if (performance.now() >= giveUpAt)
      throw new Refusal(`worker:not_replaced ${nameOf(old)} has no successor that is ready`);
    await sleep(pollMs);
  }
}
