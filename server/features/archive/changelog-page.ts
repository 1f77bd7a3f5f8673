import type { Outcome } from "./compared.ts";
import type { PatchRange, summaryOf } from "./diffs.ts";
import type { Place } from "./places.ts";

/** A page of a changelog with formatted entries. */
export interface ChangelogPage {
  place: Place;
  range: PatchRange;
  types: Map<string, Record<Outcome["op"], string[]>>;
  summary: ReturnType<typeof summaryOf>;
  count: number;
  limit: number;
  cursor: number;
  next: number | null;
}
