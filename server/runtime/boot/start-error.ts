/** A start that cannot go on for a reason the user can change: printed as one line, exit 1. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}

/** One step of the start: a failure shows `problem` and the reason, nothing else. */
export async function startupStep<T>(problem: string, part: Promise<T>): Promise<T> {
  try {
    return await part;
  } catch (error) {
    throw new StartError(`${problem}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
