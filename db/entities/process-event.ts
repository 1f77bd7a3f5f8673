import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Starts, exits, freezes, drains and takeovers of processes; the newest 10,000 are kept (OPS-60). */
export const ProcessEventSchema = defineEntity({
  name: "ProcessEvent",
  tableName: "process_events",
  properties: {
    id: p.integer().primary(),
    /** Chosen by the primary: an event that is stored again is ignored. */
    key: p.string().length(40).unique("process_events_key_unique"),
    kind: p.string().length(32),
    at: p.datetime().index("process_events_at_index"),
    /** Instance id of the primary. */
    service: p.string().length(16),
    role: p.string().length(16),
    /** The place of the process among those of its role. */
    slot: p.integer(),
    pid: p.integer(),
    instance: p.string().length(64).nullable(),
    version: p.string().length(64).nullable(),
    build: p.string().length(16).nullable(),
    detail: p.json<Record<string, string | number | null>>().defaultRaw("'{}'::jsonb"),
  },
});

export type ProcessEventRow = InferEntity<typeof ProcessEventSchema>;
