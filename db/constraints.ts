/** Maximum depth of nested causes in which the library wraps a Postgres error. */
const maxCauses = 4;
const uniqueViolation = "23505";

const deadlock = "40P01";

/** True if Postgres cancelled a statement to break a deadlock. */
export function isDeadlock(error: unknown): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth++) {
    if ((current as { code?: unknown }).code === deadlock) return true;
    current = current.cause;
  }
  return false;
}

/** Name of the unique constraint a statement violated, or null for any other failure. */
export function brokenConstraint(error: unknown): string | null {
  let current: unknown = error;
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth++) {
    const { code, constraint } = current as { code?: unknown; constraint?: unknown };
    if (code === uniqueViolation && typeof constraint === "string") return constraint;
    current = current.cause;
  }
  return null;
}
