/** Promised but not yet declared. A line is removed together with the change that implements it. */
export const pending: readonly string[] = [];
