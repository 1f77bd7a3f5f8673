import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

const maxPage = 1_000;
const maxText = 255;

const filters = {
  operator: Type.Optional(Type.String({ maxLength: maxText })),
  action: Type.Optional(Type.String({ maxLength: maxText, description: "such as job:retry" })),
  target: Type.Optional(Type.String({ maxLength: maxText, description: "such as player 7" })),
  from: Type.Optional(
    Type.String({ maxLength: 40, description: "a date or a time, in UTC: at or after it" }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: "before it" })),
};

export const AuditCsvQuery = Type.Object(filters);
export const AuditQuery = Type.Object({
  ...filters,
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
});
export type AuditQuery = Static<typeof AuditQuery>;

export const EntryBody = Type.Object({
  id: Type.Integer(),
  created_at: Timestamp,
  operator: Type.String({ description: "name, or console" }),
  action: Type.String(),
  target: Type.String(),
  reason: Type.String(),
  outcome: Type.Enum(["started", "done", "refused", "failed"], {
    description: "started: how it ended is not known",
  }),
  num_changed: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
  request_id: orNull(Type.String()),
  detail: Type.Unknown(),
});

export const EntriesBody = Type.Object({
  entries: Type.Array(EntryBody),
  has_entries: Type.Boolean({ description: "false: Postgres does not respond" }),
});
