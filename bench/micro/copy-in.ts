import pg from "pg";

/** The driver's interface for custom queries; it has no COPY itself. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

const chunkBytes = 64 * 1024;

/** `COPY ... FROM STDIN` of a prepared text: the lower bound for writing rows into a table. */
export async function copyIn(url: string, statement: string, text: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const bytes = Buffer.from(text);
    const started = performance.now();
    await new Promise<void>((done, fail) => {
      let failure: Error | null = null;
      const copy = {
        submit: (connection: CopyConnection) => connection.query(statement),
        handleCopyInResponse: (connection: CopyConnection) => {
          for (let at = 0; at < bytes.length; at += chunkBytes)
            connection.sendCopyFromChunk(bytes.subarray(at, at + chunkBytes));
          connection.endCopyFrom();
        },
        handleError: (error: Error) => (failure = error),
        handleCommandComplete: () => {},
        handleReadyForQuery: () => (failure === null ? done() : fail(failure)),
      };
      client.query(copy as never);
    });
    return performance.now() - started;
  } finally {
    await client.end();
  }
}

/** One field of COPY's text format. */
export const copyField = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
