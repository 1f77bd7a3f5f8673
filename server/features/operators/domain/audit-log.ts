import type { EntityManager } from "@mikro-orm/postgresql";
import type { AuditLog } from "../../../../db/entities/audit-log.ts";
import {
  countEntries,
  listEntries,
  type AuditFilter,
} from "../../../../db/queries/operator/audit-log.ts";
import { csvOf } from "../../../platform/text/csv.ts";
import { maskData, maskText } from "../../../platform/text/masking.ts";
import { timestamp } from "../../../platform/time/clock.ts";

/** Entries of one CSV file. */
export const maxCsvEntries = 10_000;
/** Further matching entries are not counted. */
const maxCounted = 100_000;

/** An entry as people and programs see it: reason and detail, which people write, are masked. */
export interface ShownEntry {
  id: number;
  created_at: string;
  operator: string;
  action: string;
  target: string;
  reason: string;
  outcome: AuditLog["outcome"];
  num_changed: number | null;
  request_id: string | null;
  detail: unknown;
}

/** What was given as text; empty ones match everything. */
export type AuditSearch = { [name in keyof AuditFilter]?: string | undefined };

/** Null if a time is none. */
export function filterOf(search: AuditSearch): AuditFilter | null {
  const { operator, action, target, from, to } = search;
  const [since, until] = [timeOf(from), timeOf(to)];
  if (since === null || until === null) return null;
  const textOf = (text: string | undefined) => (text?.trim() === "" ? undefined : text?.trim());
  return {
    ...{ operator: textOf(operator), action: textOf(action), target: textOf(target) },
    ...{ from: since, to: until },
  };
}

/** A date, which begins in UTC, or a time; null for any other text. */
function timeOf(text: string | undefined): Date | undefined | null {
  const given = text?.trim() ?? "";
  if (given === "") return undefined;
  if (!/^\d{4}-\d\d-\d\d(?:T[\d:.]{5,12}(?:Z|[+-]\d\d:?\d\d)?)?$/.test(given)) return null;
  const isZoned = !given.includes("T") || /(?:Z|[+-]\d\d:?\d\d)$/.test(given);
  const time = new Date(isZoned ? given : `${given}Z`);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** A page of the matching entries, newest first, and their number. */
export async function readEntries(
  em: EntityManager,
  filter: AuditFilter,
  place: { limit: number; offset: number },
): Promise<{ entries: ShownEntry[]; total: number }> {
  const entries = await listEntries(em, filter, place);
  return { entries: entries.map(shown), total: await countEntries(em, filter, maxCounted) };
}

const columns = [
  ...(["id", "created_at", "operator", "action", "target", "reason"] as const),
  ...(["outcome", "num_changed", "request_id"] as const),
] as const;

/** The newest matching entries as CSV. */
export async function entriesCsv(
  em: EntityManager,
  filter: AuditFilter,
  limit = maxCsvEntries,
): Promise<string> {
  const rows = (await listEntries(em, filter, { limit, offset: 0 })).map(shown);
  return csvOf(
    columns,
    rows.map((row) => columns.map((name) => row[name])),
  );
}

const shown = (entry: AuditLog): ShownEntry => ({
  id: entry.id,
  created_at: timestamp(entry.createdAt.getTime()),
  operator: entry.operator,
  action: entry.action,
  target: entry.target,
  reason: maskText(entry.reason),
  outcome: entry.outcome,
  num_changed: entry.numChanged ?? null,
  request_id: entry.requestId ?? null,
  detail: maskData(entry.detail),
});
