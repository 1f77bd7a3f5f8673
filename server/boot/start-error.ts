/** A start that cannot go on for a reason the user can change: printed as one line, exit 1. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}
