import type { Origin } from "../../../platform/origin.ts";
import type { ClassifierState } from "../classifier/classifier.ts";
import type { Scores } from "../classifier/contract.ts";

export type DecisionStatus = "approved" | "queued" | "rejected";

/** A moderator's decision; `queued` means manual review. */
export interface ModerationDecision {
  status: DecisionStatus;
  /** `classifier`, `webhook`, `similarity`, `manual`, `unavailable`. */
  by: string;
  /** Shown to the player; only of a rejection. */
  reason: string | null;
  scores: Scores | null;
}

export type ModeratorState = ClassifierState | "manual" | "webhook";

export interface Moderator {
  /** Never rejects: a failure leads to manual review (AV-05). */
  moderate(upload: { id: number; webp: Buffer; origin: Origin }): Promise<ModerationDecision>;
  state(): ModeratorState;
  stop(): void;
}

export const queueForReview = (by: string): ModerationDecision => ({
  status: "queued",
  by,
  reason: null,
  scores: null,
});
