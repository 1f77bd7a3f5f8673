import Type, { type Static } from "typebox";
import { timestamp } from "../core/clock.ts";
import type { ProcessInfo } from "../ipc.ts";
import { Instant, orNull } from "./schemas.ts";
import type { Sources } from "./sources.ts";

export const ProcessBody = Type.Object({
  role: Type.String(),
  index: Type.Integer(),
  pid: Type.Integer(),
  is_ready: Type.Boolean(),
  num_restarts: Type.Integer(),
  started_at: Instant,
  incarnation: orNull(Type.String()),
});

export function presentProcess(info: ProcessInfo): Static<typeof ProcessBody> {
  return {
    role: info.role,
    index: info.index,
    pid: info.pid,
    is_ready: info.isReady,
    num_restarts: info.restarts,
    started_at: timestamp(info.startedAt),
    incarnation: info.incarnation,
  };
}

export const Readiness = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("unavailable")]),
  num_processes: Type.Integer(),
  num_waiting: Type.Integer(),
  missing_stores: Type.Array(Type.String()),
});

/** `ok` when every process has started and every store answers. */
export async function readiness(
  sources: Pick<Sources, "processes" | "missingStores">,
): Promise<Static<typeof Readiness>> {
  const [processes, missing] = await Promise.all([sources.processes(), sources.missingStores()]);
  const waiting = processes.filter((each) => !each.isReady).length;
  const isReady = processes.length > 0 && waiting === 0 && missing.length === 0;
  return {
    status: isReady ? "ok" : "unavailable",
    num_processes: processes.length,
    num_waiting: waiting,
    missing_stores: missing,
  };
}
