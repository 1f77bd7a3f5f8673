import type { Origin } from "../../../server/platform/origin.ts";
import { accept, defineRoom, reject, type RoomRules } from "../../../actors/index.ts";

/** A second kind of room: players count to a target, and a turn that nobody takes in time is skipped. */
export interface Counter {
  seq: number;
  count: number;
  skipped: number;
  turnEndsAt: number;
  /** Ended: its result is not queued yet. */
  status: "running" | "ended" | "finished";
}

export type Command =
  | { type: "open" }
  | { type: "count"; by: number }
  | { type: "read" }
  | { type: "tick" }
  | { type: "done" };
type Event =
  | { type: "opened"; at: number }
  | { type: "counted"; at: number }
  | { type: "skipped"; at: number }
  | { type: "ended"; at: number }
  | { type: "done"; at: number };

export const target = 100;
export const turnMs = 400;

export const counterRules = {
  kind: "counter",
  notFound: "route:not_found",
  read: { type: "read" },
  tick: { type: "tick" },
  decide(room, { type }, at) {
    if (type === "open") return room ? accept() : accept({ type: "opened", at });
    if (!room) return reject("route:not_found");
    const { status, count, turnEndsAt } = room;
    const isLate = status === "running" && at >= turnEndsAt;
    if (type === "tick") return isLate ? accept({ type: "skipped", at }) : accept();
    if (type === "done") return status === "ended" ? accept({ type: "done", at }) : accept();
    if (type === "read") return accept();
    if (status !== "running") return reject("lobby:not_in_progress");
    const isLast = count + 1 === target;
    return accept({ type: "counted", at }, ...(isLast ? [{ type: "ended", at } as const] : []));
  },
  evolve(room, { type, at }) {
    const { seq, count, skipped } = room ?? { seq: 0, count: 0, skipped: 0 };
    const next = { seq, count, skipped, turnEndsAt: at + turnMs, status: "running" } as const;
    if (type === "counted") return { ...next, count: count + 1 };
    if (type === "skipped") return { ...next, skipped: skipped + 1 };
    return type === "opened" ? next : { ...next, status: type === "ended" ? "ended" : "finished" };
  },
  snapshot: ({ count, skipped, status }) => ({ count, skipped, status }),
  messages: { counted: "counter.counted", skipped: "counter.skipped", ended: "counter.ended" },
  nextDeadline: ({ status, turnEndsAt }) => (status === "finished" ? null : turnEndsAt),
  isFinished: ({ status }) => status !== "running",
} as const satisfies RoomRules<Counter, Command, Event>;

/** `queueResult` queues the count of an ended room. */
export const counterActor = (
  queueResult: (code: string, count: number, origin: Origin) => Promise<unknown>,
) =>
  defineRoom<Counter, Command, Event>({
    ...counterRules,
    jobs: {
      result: {
        startedBy: "ended",
        isPending: ({ status }) => status === "ended",
        pendingSince: ({ turnEndsAt }) => turnEndsAt,
        run: async ({ count }, code, origin) => (
          await queueResult(code, count, origin),
          { type: "done" }
        ),
      },
    },
  });
