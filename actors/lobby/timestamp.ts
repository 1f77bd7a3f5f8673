/** Milliseconds since the Unix epoch as ISO 8601 in UTC without fractions (document 1, Field conventions). */
export const timestamp = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, -".000Z".length)}+00:00`;
