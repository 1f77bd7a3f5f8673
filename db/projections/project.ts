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
 * Version of what this folder makes of an entity. Raise it with every change of a row's content: rows made by
 * another version are made again.
 */
export const projectorVersion = 3;

/** Values by column; what the table keeps and every answer is made of. */
export type Row = Readonly<Record<string, unknown>>;

export interface Projected {
  row: Row;
  /** Ids of other entities the row was made from, there or not; sorted. */
  companions: string[];
  /** Keys of the texts it was made from; sorted. */
  textKeys: string[];
  /** Its enumerations: column, slug, upstream value. */
  enums: EnumEntry[];
}

export type EnumEntry = readonly [column: string, slug: string, raw: string | null];

/**
 * The row of an entity, from the read context alone. A key it has not loaded is added to `required`;
 * until none is added, the row is incomplete.
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

/** The patch that last changed the entity or one of its companions; its removal is a change too. */
const latestOf = (sources: readonly Source[]): string =>
  sources.reduce((latest, one) => (one.ord > latest.ord ? one : latest)).version;

/** What names the state of an entity: content, patch, upstream key. */
export type StateOf = (id: string) => string | undefined;

export const stateText = ({
  hash: content,
  version,
  upstreamKey,
}: Pick<Source, "hash" | "version" | "upstreamKey">): string =>
  `${content ?? "-"} ${version} ${upstreamKey ?? "-"}`;

/** Hash over the entities a row was made from and the projector. */
export function inputsHash(id: string, companions: readonly string[], stateOf: StateOf): string {
  const states = [id, ...companions].map((one) => `${one} ${stateOf(one) ?? ""}`);
  return hash("sha256", `${projectorVersion}\n${states.join("\n")}`, "hex");
}

/** Hash over the texts a row was made from. */
export function textsHash(
  keys: readonly string[],
  textOf: (key: string) => Localized | null | undefined,
): string {
  return hash("sha256", JSON.stringify(keys.map((key) => [key, textOf(key) ?? null])), "hex");
}
