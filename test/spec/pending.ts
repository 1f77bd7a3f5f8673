/** Promised and not declared yet. A line leaves this list together with the change that serves it. */
export const pending: readonly string[] = [];
