/** Format of a text: the check, and its description for the error message. */
export interface Rule {
  pattern: string;
  allowed: string;
}

export function oneOf(...words: string[]): Rule {
  const allowed = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return { pattern: `^(${words.join("|")})$`, allowed };
}

/** Empty settings are not checked. */
export const rules = {
  webAddress: {
    pattern: "^https?://\\S+$",
    allowed: "an address that begins with http:// or https://",
  },
  sitePrefix: {
    pattern: "^https?://[^\\s?#]+$",
    allowed: "an address that begins with http:// or https://, without ? and #",
  },
  collector: {
    pattern: "^https?://[^\\s?#@]+$",
    allowed: "an address that begins with http:// or https://, without a user, ? and #",
  },
  origin: {
    pattern: "^https?://[^\\s?#/@]+/?$",
    allowed: "an address as https://ops.example, without a path",
  },
  mailServer: {
    pattern: "^smtps?://\\S+$",
    allowed: "an address as smtp://user:password@mail.example:587, or smtps://…",
  },
  mailAddress: { pattern: "^[^<>\\s@]+@[^<>\\s@]+$", allowed: "a mail address" },
  sender: {
    pattern: '^([^<>\\r\\n"]*<[^<>\\s@]+@[^<>\\s@]+>|[^<>\\s@]+@[^<>\\s@]+)$',
    allowed: "a mail address, as games@mail.example or Games <games@mail.example>",
  },
  bucket: {
    pattern: "^https?://[^\\s:@/]+:[^\\s@/]+@[^\\s/]+/\\S+$",
    allowed: "an address as https://<key id>:<secret>@<host>/<bucket>?region=…",
  },
  hosts: {
    pattern: "^((\\*\\.)?[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*( *, *(?!$)|$))*$",
    allowed: "host names parted by commas, as a.com,*.b.com",
  },
  realm: {
    pattern: "^[a-z0-9][a-z0-9-]{1,62}$",
    allowed: "2 to 63 characters of a-z, 0-9 and -, not - at first",
  },
  game: {
    pattern: "^[a-z0-9][a-z0-9-]{0,62}$",
    allowed: "1 to 63 characters of a-z, 0-9 and -, not - at first",
  },
  threeNames: {
    pattern: "^[^\\s,]+( *, *[^\\s,]+){2}$",
    allowed: "three names without spaces, parted by commas",
  },
  prices: {
    pattern: "^([^\\s,=]+=\\d+(\\.\\d+)?/\\d+(\\.\\d+)?( *, *(?!$)|$))*$",
    allowed: "prices parted by commas, as small=0.15/0.6,large=3/15",
  },
  firstPort: {
    pattern: "^(off|auto|[1-9]\\d{0,4})$",
    allowed: "off, auto or a port",
  },
  claim: { pattern: "^[\\x21-\\x7e]+$", allowed: "a name without spaces" },
  rolePairs: {
    pattern: "^([^\\s,]+=(viewer|operator|admin)( *, *(?!$)|$))*$",
    allowed: "values with their roles, as team-games=operator,team-leads=admin",
  },
  scopes: {
    pattern: "^openid( [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$",
    allowed: "scopes parted by spaces, openid first",
  },
  seconds: {
    pattern: "^\\d{1,4}$",
    allowed: "a whole number of seconds",
  },
  probePath: {
    pattern: "^(off|(/[A-Za-z0-9._~-]+)+)$",
    allowed: "off or a path of A-Z, a-z, 0-9, ., _, ~ and -, as /ready",
  },
  topic: {
    pattern: "^(/[a-z0-9_-]+)+$",
    allowed: "a path of a-z, 0-9, - and _, as /games/trivia",
  },
} satisfies Record<string, Rule>;
