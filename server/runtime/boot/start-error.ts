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
    throw new StartError(`${problem}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
