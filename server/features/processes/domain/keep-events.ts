import {
  insertProcessEvents,
  keepNewestProcessEvents,
} from "../../../../db/queries/processes/process-events.ts";
import type { WithEm } from "../../../platform/capabilities.ts";
import type { ProcessEvent } from "../../../platform/process-event.ts";

/** The newest events that are kept. */
export const keptEvents = 10_000;

/** Stores events for the primary, which has no Postgres; the same events again change nothing (OPS-61). */
export async function keepEvents(
  { em }: WithEm,
  events: readonly ProcessEvent[],
  kept = keptEvents,
): Promise<true> {
  await insertProcessEvents(em, events);
  await keepNewestProcessEvents(em, kept);
  return true;
}
