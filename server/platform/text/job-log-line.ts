import { maskText } from "./masking.ts";

/** Time, attempt, process and duration. The name of the process looks like a mail address to `maskText`. */
const lineHead = /^\S+ attempt \d+ on [a-z]+-\d+(?:@[a-z0-9]{12})?, \d+ ms(?=[:,] )/;

/** A line of the log of a job without personal data; older ones and those of others may have any form. */
export function maskLogLine(line: string): string {
  const [head = ""] = lineHead.exec(line) ?? [];
  return head + maskText(line.slice(head.length));
}
