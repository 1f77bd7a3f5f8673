import type { ClassifierState } from "../classifier/classifier.ts";
import type { Scores } from "../classifier/contract.ts";

export type VerdictStatus = "approved" | "queued" | "rejected";

/** What a moderator says of a picture; `queued` leaves it to a person. */
export interface Verdict {
  status: VerdictStatus;
  /** `classifier`, `webhook`, `similarity`, `manual`, `unavailable`. */
  by: string;
  /** Shown to the player; only of a rejection. */
  reason: string | null;
  scores: Scores | null;
}

export type ModeratorState = ClassifierState | "manual" | "webhook";

export interface Moderator {
  /** Never rejects: what cannot be judged is left to a person (AV-05). */
  judge(upload: { id: number; webp: Buffer }): Promise<Verdict>;
  state(): ModeratorState;
  stop(): void;
}

export const leaveTo = (by: string): Verdict => ({
  status: "queued",
  by,
  reason: null,
  scores: null,
});
