import type { KeptEntity } from "../../../db/queries/archive/codex-import.ts";
import type { KnownEntity } from "../../../db/queries/archive/codex-sources.ts";

export interface ComparedStates {
  /** The state that clients read now; empty for a new patch of a new game. */
  current: ReadonlyMap<string, KnownEntity>;
  /** The state before the patch; the same map unless the patch replaces an imported one. */
  base: ReadonlyMap<string, KeptEntity>;
  /** Entities of `current` by digest of their source text. */
  known: ReadonlyMap<string, KnownEntity>;
  /** Whether differing entities may be written, so that they have to be staged. */
  isWritable: boolean;
  /** A patch that no longer changes: it keeps entities as versions before COD-21 stored them. */
  isFixed: boolean;
  /** English texts changed, so search words may differ although the content is the same. */
  hasNewTexts: boolean;
}

export const noStates: ComparedStates = {
  current: new Map(),
  base: new Map(),
  known: new Map(),
  isWritable: false,
  isFixed: false,
  hasNewTexts: false,
};
