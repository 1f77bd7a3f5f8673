import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** What operators decided about a group of faults, whose occurrences are in Redis (OPS-23). */
export const FaultGroupDecisionSchema = defineEntity({
  name: "FaultGroupDecision",
  tableName: "fault_group_decisions",
  properties: {
    groupId: p.string().length(32).primary(),
    groupingVersion: p.integer(),
    state: p.enum(["open", "ignored", "resolved"]),
    stateBy: p.string().length(64).nullable(),
    /** Occurrences after it reopen a resolved group. */
    stateAt: p.datetime().nullable(),
    /** Of an ignored group: both null means until somebody decides otherwise. */
    ignoredUntil: p.datetime().nullable(),
    ignoredMore: p.integer().nullable(),
    /** Occurrences of the group when its state was set. */
    totalAtState: p.bigint("number").default(0),
    note: p.string().length(2000).nullable(),
    noteBy: p.string().length(64).nullable(),
    noteAt: p.datetime().nullable(),
  },
});

export type FaultGroupDecision = InferEntity<typeof FaultGroupDecisionSchema>;
