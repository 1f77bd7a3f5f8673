import { DelayedError, UnrecoverableError, type Job } from "bullmq";
import { formOf, isReadable } from "../server/platform/forms.ts";

/** How long a job in a form that this release does not read waits for one that does (BOOT-22). */
const waitLimitMs = 3_600_000;
const usualPauseMs = 10_000;

/**
 * Puts a job of a newer release back, where that release may take it; after an hour the job fails, and so
 * operators see it. In both cases it throws for the library.
 */
export async function leaveToNewerRelease(
  job: Job,
  token: string | undefined,
  { pauseMs = usualPauseMs }: { pauseMs?: number | undefined } = {},
): Promise<void> {
  const data: unknown = job.data;
  const isNumbered = typeof data === "object" && data !== null && "form" in data;
  const form = formOf(isNumbered ? data.form : undefined);
  if (isReadable("job", form)) return;
  const now = Date.now();
  if (now - job.timestamp >= waitLimitMs)
    throw new UnrecoverableError(
      `the job has form ${form} of a newer release, which has not taken it within an hour`,
    );
  await job.moveToDelayed(now + pauseMs, token);
  throw new DelayedError();
}

/** The job goes on later; the attempt is none. */
export const isLeft = (error: unknown): boolean => error instanceof DelayedError;
