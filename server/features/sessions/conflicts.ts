import { brokenConstraint } from "../../../db/constraints.ts";
import { AppError, type ErrorCode } from "../../platform/errors.ts";

/** Unique constraint -> error code of its violation (S9). */
const codes: Readonly<Record<string, ErrorCode>> = {
  players_email_key_unique: "user:email_taken",
  players_name_key_unique: "user:username_taken",
  players_name_skeleton_unique: "user:username_taken",
};

/** Runs a write; a lost race for a name or an address becomes its 409. */
export async function claiming<T>(
  write: () => Promise<T>,
  overrides: Readonly<Record<string, ErrorCode>> = {},
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const constraint = brokenConstraint(error);
    const code = constraint === null ? undefined : (overrides[constraint] ?? codes[constraint]);
    throw code ? new AppError(code, { cause: error }) : error;
  }
}
