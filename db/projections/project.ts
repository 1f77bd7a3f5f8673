import { hash } from "node:crypto";
import type { EnumValue } from "./columns.ts";
import type { Resource } from "./resource.ts";
import {
  ReadContextScope,
  type Localized,
  type ReadContext,
  type Source,
  type RequiredInputs,
} from "./source.ts";

/**
 * Version of the projector. Increase it with every change of a row's content: rows of another version are
 * projected again.
 */
export const projectorVersion = 3;

/** Values by column, as stored in the table and used by every response. */
export type Row = Readonly<Record<string, unknown>>;

export interface Projected {
  row: Row;
  /** Sorted ids of the other entities the row was computed from, existing or not. */
  companions: string[];
  /** Sorted keys of the texts the row was computed from. */
  textKeys: string[];
  /** Its enumerations: column, slug, upstream value. */
  enums: EnumEntry[];
}

export type EnumEntry = readonly [column: string, slug: string, raw: string | null];

/**
 * The row of an entity, computed from the read context alone. Keys that are not loaded are added to
 * `required`; the row is complete once none is added.
 */
export function project(
  resource: Resource,
  source: Source,
  context: ReadContext,
  required: RequiredInputs,
): Projected {
  const scope = new ReadContextScope(source, context, required);
  const row: Record<string, unknown> = {};
  const enums: EnumEntry[] = [];
  for (const [name, column] of Object.entries(resource.columns)) {
    row[name] = column.project(scope);
    const values: readonly EnumValue[] = column.values?.(scope) ?? [];
    for (const { slug, raw } of values) enums.push([name, slug, raw]);
  }
  const companions = [...scope.companions].sort();
  row["patch"] = latestOf([source, ...companions.flatMap((id) => context.entities.get(id) ?? [])]);
  return { row, companions, textKeys: [...scope.textKeys].sort(), enums };
}

/** The latest patch that changed or removed the entity or one of its companions. */
const latestOf = (sources: readonly Source[]): string =>
  sources.reduce((latest, one) => (one.ord > latest.ord ? one : latest)).version;

/** Identifies the state of an entity: content, patch, upstream key. */
export type StateOf = (id: string) => string | undefined;

export const stateText = ({
  hash: content,
  version,
  upstreamKey,
}: Pick<Source, "hash" | "version" | "upstreamKey">): string =>
  `${content ?? "-"} ${version} ${upstreamKey ?? "-"}`;

/** Hash over the entities a row was computed from and the projector version. */
export function inputsHash(id: string, companions: readonly string[], stateOf: StateOf): string {
  const states = [id, ...companions].map((one) => `${one} ${stateOf(one) ?? ""}`);
  return hash("sha256", `${projectorVersion}\n${states.join("\n")}`, "hex");
}

/** Hash over the texts a row was computed from. */
export function textsHash(
  keys: readonly string[],
  textOf: (key: string) => Localized | null | undefined,
): string {
  return hash("sha256", JSON.stringify(keys.map((key) => [key, textOf(key) ?? null])), "hex");
}
