import type { EntityManager } from "@mikro-orm/postgresql";
import {
  FaultGroupDecisionSchema,
  type FaultGroupDecision,
} from "../../entities/fault-group-decision.ts";

export type StateDecision = Pick<
  FaultGroupDecision,
  | "groupId"
  | "groupingVersion"
  | "state"
  | "stateBy"
  | "stateAt"
  | "ignoredUntil"
  | "ignoredMore"
  | "totalAtState"
>;

export type NoteDecision = Pick<
  FaultGroupDecision,
  "groupId" | "groupingVersion" | "note" | "noteBy" | "noteAt"
>;

export async function listDecisions(
  em: EntityManager,
  groupIds: readonly string[],
): Promise<FaultGroupDecision[]> {
  return em.find(FaultGroupDecisionSchema, { groupId: { $in: [...groupIds] } });
}

/** Keeps the note. */
export async function saveState(em: EntityManager, decision: StateDecision): Promise<void> {
  await em.upsert(FaultGroupDecisionSchema, decision, {
    onConflictFields: ["groupId"],
    onConflictMergeFields: [
      ...(["groupingVersion", "state", "stateBy", "stateAt"] as const),
      ...(["ignoredUntil", "ignoredMore", "totalAtState"] as const),
    ],
  });
}

/** Keeps the state. */
export async function saveNote(em: EntityManager, decision: NoteDecision): Promise<void> {
  const state = "open" as const;
  await em.upsert(
    FaultGroupDecisionSchema,
    { ...decision, state },
    { onConflictFields: ["groupId"], onConflictMergeFields: ["note", "noteBy", "noteAt"] },
  );
}
