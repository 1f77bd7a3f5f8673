/** Id of a command with a client's idempotency key, equal for every repeat. */
export const keyedId = (type: string, key: string) => `c.${type}.${key}`;
