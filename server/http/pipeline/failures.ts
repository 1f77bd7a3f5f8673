import { AppError } from "../../platform/errors.ts";
import { DeadlineError } from "../../platform/time/deadline.ts";

/** Maximum causes followed from an error. */
const maxCauses = 5;

const storeCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  // Postgres: connection lost, shutting down, starting up, too many connections, disk or memory full, statement
  // timeout, lock timeout, deadlock, serialization failure, read only
  "08000",
  "08001",
  "08003",
  "08004",
  "08006",
  // PgBouncer: all of its own errors, such as a server it cannot reach
  "08P01",
  "57P01",
  "57P02",
  "57P03",
  "53100",
  "53200",
  "53300",
  "57014",
  "55P03",
  "40P01",
  "40001",
  "25006",
  // access refused while an administrator changes users or passwords
  "28000",
  "28P01",
]);

const storeMessages = [
  /^connection terminated/i,
  /^connection is closed/i,
  /connection ended unexpectedly/i,
  /stream isn't writeable/i,
  /^timeout exceeded when trying to connect/i,
  /^command timed out/i,
  /client has encountered a connection error/i,
  /^(LOADING|BUSY|OOM|READONLY|MASTERDOWN|MISCONF|NOREPLICAS) /,
];

const storeNames = new Set(["MaxRetriesPerRequestError", "ConnectionException", "DeadlineError"]);

/** True when a store or a timeout failed, not our code: the client may retry (S37). */
export function isUnavailable(error: unknown): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth++) {
    if (isStoreFailure(current)) return true;
    current = current.cause ?? firstOf(current);
  }
  return false;
}

function isStoreFailure(error: Error & { code?: unknown; syscall?: unknown }): boolean {
  if (error instanceof DeadlineError || storeNames.has(error.name)) return true;
  // ENOENT means a missing socket only when a connect throws it; a file read throws it too.
  if (error.code === "ENOENT") return error.syscall === "connect";
  if (typeof error.code === "string" && storeCodes.has(error.code)) return true;
  return storeMessages.some((pattern) => pattern.test(error.message));
}

function firstOf(error: Error & { errors?: unknown }): unknown {
  return Array.isArray(error.errors) ? error.errors[0] : undefined;
}

export const unavailable = (cause?: unknown) =>
  new AppError("server:unavailable", { params: { retry_after: 1 }, cause });

/** Maps a thrown error to a refusal of the error table; an unexpected error is `server:error`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return isUnavailable(error) ? unavailable(error) : new AppError("server:error", { cause: error });
}
