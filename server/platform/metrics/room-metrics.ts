import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { shortBuckets } from "./buckets.ts";

/** Adds to a counter whose labels are known. */
export type Count = Counter.Internal;

/** Metrics of the rooms of one kind. */
export interface RoomMetrics {
  command(type: string, outcome: string): Count;
  /** From the call to the reply, in seconds. */
  commandSeconds: Histogram.Internal<"kind">;
  /** From the arrival of the first command of a batch to its decision, in seconds. */
  mailboxWaitSeconds: Histogram.Internal<"kind">;
  /** By the result of the script. */
  commit(outcome: string): Count;
  commitSeconds: Histogram.Internal<"kind">;
  inMemory: Gauge.Internal<"kind">;
  shards: Gauge.Internal<"kind">;
  forward(outcome: string): Count;
  /** Shards whose earlier owner did not hand them over. */
  takeover(cause: string): Count;
  /** Shards that their earlier owner handed over. */
  handoff(cause: string): Count;
}

/** Metrics of the rooms of all kinds, with the label `kind`. */
export function createRoomMetrics(registers: Registry[]): (kind: string) => RoomMetrics {
  const counters = roomCounters(registers);
  const seconds = roomHistograms(registers);
  const gauges = roomGauges(registers);
  return (kind) => ({
    command: (type, outcome) => counters.commands.labels({ kind, type, outcome }),
    commit: (outcome) => counters.commits.labels({ kind, outcome }),
    forward: (outcome) => counters.forwards.labels({ kind, outcome }),
    takeover: (cause) => counters.takeovers.labels({ kind, cause }),
    handoff: (cause) => counters.handoffs.labels({ kind, cause }),
    commandSeconds: seconds.commands.labels({ kind }),
    mailboxWaitSeconds: seconds.mailboxWaits.labels({ kind }),
    commitSeconds: seconds.commits.labels({ kind }),
    inMemory: gauges.rooms.labels({ kind }),
    shards: gauges.shards.labels({ kind }),
  });
}

const roomCounters = (registers: Registry[]) => ({
  commands: new Counter({
    name: "emberline_room_commands_total",
    help: "Commands to rooms by outcome: ok, or the code of the refusal",
    labelNames: ["kind", "type", "outcome"],
    registers,
  }),
  commits: new Counter({
    name: "emberline_room_commits_total",
    help: "Commits of rooms: committed; fenced (another process owns the shard), conflict, refused, silent, failed",
    labelNames: ["kind", "outcome"],
    registers,
  }),
  forwards: new Counter({
    name: "emberline_room_forwards_total",
    help: "Commands sent to another process: answered, moved (sent again to the next owner)",
    labelNames: ["kind", "outcome"],
    registers,
  }),
  takeovers: new Counter({
    name: "emberline_room_shard_takeovers_total",
    help: "Shards taken over, counted by the new owner: exited, frozen, recovered (a whole service had ended)",
    labelNames: ["kind", "cause"],
    registers,
  }),
  handoffs: new Counter({
    name: "emberline_room_shard_handoffs_total",
    help: "Shards handed over, counted by the new owner: drained, rebalanced",
    labelNames: ["kind", "cause"],
    registers,
  }),
});

const roomHistograms = (registers: Registry[]) => {
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ["kind"], buckets: shortBuckets, registers });
  return {
    commands: histogram(
      "emberline_room_command_duration_seconds",
      "Time from a command to its reply, including waits for an owner",
    ),
    mailboxWaits: histogram(
      "emberline_room_mailbox_wait_duration_seconds",
      "Time of the first command of a batch in the mailbox of its room, while the room is loaded or the batch before is committed",
    ),
    commits: histogram(
      "emberline_room_commit_duration_seconds",
      "Time of one commit script, which commits up to 256 rooms",
    ),
  };
};

const roomGauges = (registers: Registry[]) => ({
  rooms: new Gauge({
    name: "emberline_rooms",
    help: "Rooms in memory",
    labelNames: ["kind"],
    registers,
  }),
  shards: new Gauge({
    name: "emberline_room_shards",
    help: "Shards of rooms owned",
    labelNames: ["kind"],
    registers,
  }),
});
