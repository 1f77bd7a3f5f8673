import type { UploadRow } from "../../../../db/queries/avatars/avatar-uploads.ts";

type Judged = Pick<UploadRow, "status" | "judgedBy" | "judgedAtMs">;

/** Differs from that of every earlier judgement of the upload. */
export const judgementOf = ({ status, judgedBy, judgedAtMs }: Judged): string =>
  [status, judgedAtMs ?? "", judgedBy ?? ""].join(" ");

/** Somebody else decided since the decider looked. */
export class DecidedMeanwhile extends Error {
  constructor({ status, judgedBy }: Judged) {
    super(`Somebody decided meanwhile: ${status}${judgedBy === null ? "" : ` by ${judgedBy}`}.`);
  }
}
