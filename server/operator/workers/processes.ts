import Type, { type Static } from "typebox";
import { timestamp } from "../../platform/time/clock.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import { nameOfInstance } from "../../platform/instance.ts";
import { orNull } from "../schemas.ts";
import { Timestamp } from "../../platform/schemas.ts";

export const ProcessBody = Type.Object({
  role: Type.String(),
  index: Type.Integer(),
  pid: Type.Integer(),
  is_ready: Type.Boolean(),
  is_draining: Type.Boolean({ description: "it drains, or will once balancers have noticed" }),
  num_restarts: Type.Integer(),
  started_at: Timestamp,
  incarnation: orNull(Type.String()),
  instance: orNull(Type.String({ description: "name of this start; null until it is ready" })),
  version: orNull(Type.String()),
  build: orNull(Type.String({ description: "digest of the sources of its build" })),
});

export function presentProcess(info: ProcessInfo): Static<typeof ProcessBody> {
  const { instance } = info;
  return {
    role: info.role,
    index: info.index,
    pid: info.pid,
    is_ready: info.isReady,
    is_draining: info.isDraining,
    num_restarts: info.restarts,
    started_at: timestamp(info.startedAt),
    incarnation: info.nodeId,
    instance: instance && nameOfInstance(instance),
    version: instance?.version ?? null,
    build: instance?.build ?? null,
  };
}
