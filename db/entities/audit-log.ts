import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Who changed what and why; append-only (S16, OPS-02). */
export const AuditLogSchema = defineEntity({
  name: "AuditLog",
  tableName: "audit_log",
  properties: {
    id: p.integer().primary(),
    /** Name of the operator, kept as text so that the entry outlives the operator. */
    operator: p.string().length(64),
    action: p.string().length(64),
    target: p.string().length(255),
    reason: p.string().length(500),
    detail: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    createdAt: p.datetime().defaultRaw("now()").index("audit_log_created_at_index"),
  },
});

export type AuditLog = InferEntity<typeof AuditLogSchema>;
