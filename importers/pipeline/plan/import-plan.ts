/** A difference between the archive and an envelope. */
export type ImportOp = "added" | "changed" | "removed";

export type Counts = Record<ImportOp, number>;

/** Counts of an import, planned or done, against the data that clients read now (IMP-01). */
export interface ImportReport extends Counts {
  game: string;
  branch: string;
  /** Canonical version. */
  patch: string;
  unchanged: number;
  /**
   * Unchanged entities with a new upstream key on this branch; clients get new answers and tags for them.
   * Absent for none.
   */
  renamed?: number;
  /** Changed entities that only regain keys which versions before COD-21 lost. Absent for none. */
  moved?: number;
  /** Keys that kept their spelling beside another key of the same snake case. Absent for none. */
  kept?: { keys: readonly string[]; omitted: number };
}

/** Everything an import is about to do, as plain data. */
export interface ImportPlan extends ImportReport {
  renamed: number;
  /** `create` writes a new patch or branch, `replace` new data for the newest patch, `none` writes nothing. */
  action: "create" | "replace" | "none";
  /** Where a new branch leaves its parent; null for the branch `main` and for existing branches. */
  fork: { parent: string; version: string } | null;
  /** By entity type; only types with a difference, sorted. */
  types: Readonly<Record<string, Counts>>;
  /** Texts that differ, by locale. */
  texts: readonly { locale: string; op: ImportOp }[];
  /** Files to store; files that the archive has already are not counted. */
  assets: { added: number; bytes: number };
  rebuild: {
    /** Entities whose row in the current state of the branch is written anew or deleted. */
    entities: number;
    /** Whether the typed resources of the game follow in the same transaction. */
    projection: boolean;
  };
  /** The first differing entities, up to `maxListedChanges`. */
  changes: readonly EntityChange[];
  /** Differing entities beyond that list. */
  omitted: number;
}

export interface EntityChange {
  op: ImportOp;
  id: string;
}

export const maxListedChanges = 1_000;

export function reportOf(plan: ImportPlan): ImportReport {
  const { game, branch, patch, added, changed, removed, unchanged, renamed, moved, kept } = plan;
  return {
    ...{ game, branch, patch, added, changed, removed, unchanged },
    ...(renamed > 0 && { renamed }),
    ...(moved !== undefined && { moved }),
    ...(kept !== undefined && { kept }),
  };
}
