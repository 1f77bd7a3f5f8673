import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A retry or removal of the jobs of a group of faults, and how far it is (OPS-50). */
export const FaultActionSchema = defineEntity({
  name: "FaultAction",
  tableName: "fault_actions",
  indexes: [
    { name: "fault_actions_group_index", properties: ["groupId", "id"] },
    {
      // At most one action of a group is queued or running.
      name: "fault_actions_open_unique",
      expression:
        "create unique index fault_actions_open_unique on fault_actions (group_id) where ended_at is null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    groupId: p.string().length(32),
    kind: p.enum(["retry", "remove"]),
    /** The queue of the jobs. */
    place: p.string().length(120),
    operator: p.string().length(64),
    reason: p.string().length(500),
    /** Jobs a second. */
    rate: p.integer(),
    state: p.enum(["queued", "running", "done", "stopped", "cancelled", "failed"]),
    /** Jobs that had failed when the action was decided. */
    numJobs: p.integer().default(0),
    /** Further ones, beyond the bound of an action. */
    numLeftOut: p.integer().default(0),
    numSucceeded: p.integer().default(0),
    numFailedAgain: p.integer().default(0),
    numRemoved: p.integer().default(0),
    numSkipped: p.integer().default(0),
    /** Retried jobs without an outcome. */
    numWaiting: p.integer().default(0),
    createdAt: p.datetime(),
    startedAt: p.datetime().nullable(),
    endedAt: p.datetime().nullable(),
  },
});

export type FaultAction = InferEntity<typeof FaultActionSchema>;
