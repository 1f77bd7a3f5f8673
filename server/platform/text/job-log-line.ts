import { maskText } from "./masking.ts";

/** What a line of `logAttempt` has before the reason: a process or a request may look like an address or a token. */
const lineHead =
  /^\S+ attempt \d+ on [a-z]+-\d+(?:@[a-z0-9]{12})?, \d+ ms(?:, (?:request|player|room) [\w. -]{1,64}){0,3}: /;

/** A line of the log of a job without personal data; older ones and those of others may have any form. */
export function maskLogLine(line: string): string {
  const [head = ""] = lineHead.exec(line) ?? [];
  return head + maskText(line.slice(head.length));
}
