import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Who changed what and why, and how it ended; append-only but for the outcome (S16, OPS-02, OPS-54). */
export const AuditLogSchema = defineEntity({
  name: "AuditLog",
  tableName: "audit_log",
  indexes: [
    { name: "audit_log_operator_index", properties: ["operator", "id"] },
    { name: "audit_log_action_index", properties: ["action", "id"] },
    { name: "audit_log_target_index", properties: ["target", "id"] },
    {
      name: "audit_log_request_index",
      expression:
        "create index audit_log_request_index on audit_log (request_id) where request_id is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** Name of the operator, kept as text so that the entry outlives the operator. */
    operator: p.string().length(64),
    action: p.string().length(64),
    target: p.string().length(255),
    reason: p.string().length(500),
    detail: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    /** `started`: written before a change whose end is not known. */
    outcome: p.enum(["started", "done", "refused", "failed"]).default("started"),
    /** Number of things that changed. */
    numChanged: p.integer().nullable(),
    /** `X-Request-Id` of the operator's request. */
    requestId: p.string().length(64).nullable(),
    createdAt: p.datetime().defaultRaw("now()").index("audit_log_created_at_index"),
  },
});

export type AuditLog = InferEntity<typeof AuditLogSchema>;
