/** A start that fails for a reason the user can fix: printed as one line, exit code 1. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}

/** One step of the start: a failure prints `problem` and the reason only; a StartError says all itself. */
export async function startupStep<T>(problem: string, part: Promise<T>): Promise<T> {
  try {
    return await part;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${problem}: ${messageOf(error)}`);
  }
}

/** A name with several addresses, none of which answers, has an error without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map(messageOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}
