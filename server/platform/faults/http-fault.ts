import { Fault, type FaultFacts } from "./fault.ts";

/** Bytes read of a response that is not as expected, for its words. */
const maxWordsBytes = 2_048;
/** Maximum causes followed to the one that says why nothing was reached. */
const maxCauses = 5;

/** `host:port` of an address. */
export const peerOf = ({ protocol, hostname, port }: URL): string =>
  `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`;

/** `<area>.status`: the other side responded with an unexpected status. Reads the start of its words. */
export async function statusFault(
  area: string,
  url: URL,
  response: Response,
  facts: Pick<FaultFacts, "isPermanent" | "secrets"> = {},
): Promise<Fault> {
  const text = await readStart(response);
  return new Fault(`${area}.status`, {
    peer: peerOf(url),
    status: response.status,
    text,
    ...facts,
  });
}

/** `<area>.timeout` or `<area>.unreachable`: there was no response. */
export function connectionFault(area: string, url: URL, error: unknown): Fault {
  const isLate = error instanceof Error && /^(Timeout|Deadline)Error$/.test(error.name);
  return new Fault(isLate ? `${area}.timeout` : `${area}.unreachable`, {
    peer: peerOf(url),
    text: reasonOf(error),
    cause: error,
  });
}

/** `fetch` itself says "fetch failed" only; the innermost cause names the reason. */
export function reasonOf(error: unknown): string {
  let at = error;
  for (
    let depth = 0;
    depth < maxCauses && at instanceof Error && at.cause instanceof Error;
    depth++
  )
    at = at.cause;
  if (at instanceof AggregateError && at.message === "" && at.errors[0] instanceof Error)
    at = at.errors[0];
  return at instanceof Error ? at.message || at.name : String(at);
}

/** Never rejects: words are not worth another failure. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxWordsBytes) break;
    }
  } catch {
    // The connection broke in the middle.
  }
  return Buffer.concat(chunks).toString("utf8", 0, maxWordsBytes);
}
