/** The id of a command whose client has given it a key: every repeat has the same. */
export const keyedId = (type: string, key: string) => `c.${type}.${key}`;
