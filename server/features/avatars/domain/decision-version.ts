import type { UploadRow } from "../../../../db/queries/avatars/avatar-uploads.ts";
import { AppError } from "../../../platform/errors.ts";

type Reviewed = Pick<UploadRow, "status" | "judgedBy" | "judgedAtMs">;

/** Differs after each decision about the upload. */
export const decisionVersionOf = ({ status, judgedBy, judgedAtMs }: Reviewed): string =>
  [status, judgedAtMs ?? "", judgedBy ?? ""].join(" ");

/** Another decision was made since the operator read the upload. */
export const decisionConflict = ({ status, judgedBy }: Reviewed): AppError =>
  new AppError("avatar:decided_meanwhile", { params: { status, judged_by: judgedBy } });
