import Type, { type Static } from "typebox";
import { timestamp } from "../../platform/time/clock.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import { orNull } from "../schemas.ts";
import { Timestamp } from "../../platform/schemas.ts";

export const ProcessBody = Type.Object({
  role: Type.String(),
  index: Type.Integer(),
  pid: Type.Integer(),
  is_ready: Type.Boolean(),
  num_restarts: Type.Integer(),
  started_at: Timestamp,
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
    incarnation: info.nodeId,
  };
}
