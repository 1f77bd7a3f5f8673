import type { UploadRow } from "../../../../db/queries/avatars/avatar-uploads.ts";

type Reviewed = Pick<UploadRow, "status" | "judgedBy" | "judgedAtMs">;

/** Differs from that of every earlier judgement of the upload. */
export const decisionVersionOf = ({ status, judgedBy, judgedAtMs }: Reviewed): string =>
  [status, judgedAtMs ?? "", judgedBy ?? ""].join(" ");

/** Somebody else decided since the decider looked. */
export class DecisionConflict extends Error {
  constructor({ status, judgedBy }: Reviewed) {
    super(`Somebody decided meanwhile: ${status}${judgedBy === null ? "" : ` by ${judgedBy}`}.`);
  }
}
