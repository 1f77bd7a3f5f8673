/** ISO 8601 in UTC without fractions (document 1, Field conventions), of milliseconds since the Unix epoch. */
export const timestamp = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, -".000Z".length)}+00:00`;
