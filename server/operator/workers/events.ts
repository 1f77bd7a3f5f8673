import type { StoredProcessEvent } from "../../platform/process-event.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { ProcessEventBody } from "./schemas.ts";

export const presentEvent = ({ atMs, key: _, ...event }: StoredProcessEvent): ProcessEventBody => ({
  at: timestamp(atMs),
  ...event,
  detail: { ...event.detail },
});

type Detail = ProcessEventBody["detail"];

const counted = (count: unknown, noun: string) =>
  `${Number(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Where the shards were, and why they moved. */
function takeoverText(detail: Detail): string {
  const { from_process, from_incarnation, cause, room_kind, num_shards, num_rooms } = detail;
  const rooms = `${counted(num_shards, "shard")}, ${counted(num_rooms, `${room_kind} room`)}`;
  return `took over ${rooms} of ${from_process ?? from_incarnation}: ${cause}`;
}

const exitText = ({ signal, exit_code, reason }: Detail): string =>
  [`ended: ${signal ?? `exit code ${exit_code}`}`, reason].filter((part) => part).join(", ");

const texts: Readonly<Record<string, (detail: Detail) => string>> = {
  started: () => "started",
  exited: exitText,
  frozen: () => "frozen, killed",
  drain_started: () => "drains",
  drained: () => "drained",
  drain_cancelled: () => "serves on: no other instance took its rooms any more",
  drain_timed_out: () => "did not drain in time, killed",
  takeover: takeoverText,
  stopping: () => "the service stops",
  dropped: ({ count }) => `${counted(count, "event")} lost`,
};

/** One line about an event; the kind alone for one of a later version. */
export const eventText = ({ kind, detail }: Pick<ProcessEventBody, "kind" | "detail">): string =>
  (Object.hasOwn(texts, kind) ? texts[kind]?.(detail) : undefined) ?? kind;
