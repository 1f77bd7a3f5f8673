import type { ClassifierState } from "../classifier/classifier.ts";
import type { Scores } from "../classifier/contract.ts";

export type DecisionStatus = "approved" | "queued" | "rejected";

/** What a moderator says of a picture; `queued` leaves it to a person. */
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
  /** Never rejects: what cannot be judged is left to a person (AV-05). */
  moderate(upload: { id: number; webp: Buffer }): Promise<ModerationDecision>;
  state(): ModeratorState;
  stop(): void;
}

export const queueForReview = (by: string): ModerationDecision => ({
  status: "queued",
  by,
  reason: null,
  scores: null,
});
