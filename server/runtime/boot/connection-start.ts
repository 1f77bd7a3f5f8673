import type { Socket } from "node:net";

/** A longer first line is no probe. */
const maxLineBytes = 1_024;
const lineFeed = 0x0a;

/**
 * Bytes of read buffer of each connection: the stream stops reading while it holds one byte. A connection can then be
 * transferred with all that was read from it, because nothing more is read meanwhile.
 */
export const connectionBuffer = 1;

/**
 * Reads the first line of a connection; the last byte of what has arrived stays in the stream. Null if the connection
 * ends before.
 */
export function readStart(connection: Socket): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  let bytes = Buffer.alloc(0);
  const take = (length: number) => {
    const part = length > 0 ? (connection.read(length) as Buffer | null) : null;
    if (part !== null) bytes = Buffer.concat([bytes, part]);
  };
  const finish = (start: Buffer | null) => {
    connection.off("readable", advance);
    resolve(start);
  };
  const advance = () => {
    while (connection.readableLength > 0) {
      take(connection.readableLength - connectionBuffer);
      if (bytes.includes(lineFeed) || bytes.length > maxLineBytes) return finish(bytes);
      // The line goes on: with the last byte taken the stream reads again.
      take(connectionBuffer);
    }
    // An end is reported only to a read of the empty stream.
    connection.read(0);
  };
  connection.on("readable", advance);
  connection.once("end", () => finish(null));
  connection.once("close", () => finish(null));
  return promise;
}

const probeLine = /^(GET|HEAD) \/(live|ready)(?:\?[^ ]*)? HTTP\/1\.[01]\r?\n/;

export interface Probe {
  name: "live" | "ready";
  isHead: boolean;
}

/** The probe that a first line asks for; null for any other request. */
export function probeIn(start: Buffer): Probe | null {
  const [, method, name] = probeLine.exec(start.toString("latin1")) ?? [];
  if (name !== "live" && name !== "ready") return null;
  return { name, isHead: method === "HEAD" };
}
