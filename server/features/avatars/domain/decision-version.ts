import type { UploadRow } from "../../../../db/queries/avatars/avatar-uploads.ts";

type Reviewed = Pick<UploadRow, "status" | "judgedBy" | "judgedAtMs">;

/** Differs after each decision about the upload. */
export const decisionVersionOf = ({ status, judgedBy, judgedAtMs }: Reviewed): string =>
  [status, judgedAtMs ?? "", judgedBy ?? ""].join(" ");

/** Another decision was made since the operator read the upload. */
export class DecisionConflict extends Error {
  constructor({ status, judgedBy }: Reviewed) {
    super(`Somebody decided meanwhile: ${status}${judgedBy === null ? "" : ` by ${judgedBy}`}.`);
  }
}
