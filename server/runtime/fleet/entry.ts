import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";

const Workers = Type.Object({
  numReady: Type.Integer(),
  num: Type.Integer({ description: "those that start or drain included" }),
});

/** What an instance reports about itself with each renewal of its lease (BOOT-30). */
export const InstanceEntry = Type.Object({
  version: Type.String(),
  commit: Type.String({ description: "of its build; unknown if that had no history" }),
  build: Type.String({ description: "digest of the sources of its build" }),
  environment: Type.String({ description: "APP_ENV" }),
  host: Type.String(),
  pid: Type.Integer({ description: "of its primary" }),
  publicAddress: Type.String({ description: "where it listens, without a balancer" }),
  operatorAddress: Type.String(),
  startedAt: Type.Integer({ description: "milliseconds since 1970 by its own clock" }),
  /** The word of `/ready`. */
  ready: Type.String(),
  workers: Type.Object({ http: Workers, jobs: Workers }),
  /** Node ids of its HTTP workers, of each kind of room. */
  nodes: Type.Array(Type.String()),
  figures: Type.Object({
    numStreams: Type.Integer(),
    numRooms: Type.Integer({ description: "in memory" }),
    memoryBytes: Type.Integer({ description: "of its HTTP and job workers" }),
    loopLagMs: Type.Union([Type.Integer(), Type.Null()], { description: "of its slowest process" }),
  }),
  clockOffsetMs: Type.Integer({ description: "its clock minus that of Redis" }),
  /** Of the secret it signs with, then of the previous one. */
  secrets: Type.Array(Type.String()),
  hasAvatarFolder: Type.Boolean({ description: "avatars are in a folder of its machine" }),
  hasImportFolder: Type.Boolean({ description: "IMPORT_DIR is set" }),
});
export type InstanceEntry = Static<typeof InstanceEntry>;

/** A live instance: its lease has not ended. */
export interface FleetInstance extends InstanceEntry {
  /** Instance id of its primary. */
  id: string;
}

/** An entry of 256 HTTP workers takes 8 KiB. */
export const maxEntryBytes = 16_384;
/** Of an address or a name of a host. */
const maxText = 256;

const none = { numReady: 0, num: 0 };
/** Shown of an instance whose entry this release cannot read. */
const unreadable: InstanceEntry = {
  ...{ version: "unknown", commit: "unknown", build: "unknown", environment: "unknown" },
  ...{
    host: "unknown",
    pid: 0,
    publicAddress: "",
    operatorAddress: "",
    startedAt: 0,
    ready: "unknown",
  },
  workers: { http: none, jobs: none },
  nodes: [],
  figures: { numStreams: 0, numRooms: 0, memoryBytes: 0, loopLagMs: null },
  ...{ clockOffsetMs: 0, secrets: [], hasAvatarFolder: false, hasImportFolder: false },
};

const check = Compile(InstanceEntry);

/** The entry as stored. Throws if it is larger than `maxEntryBytes`. */
export function storedEntry(entry: InstanceEntry): string {
  const [host, publicAddress, operatorAddress] = [
    entry.host,
    entry.publicAddress,
    entry.operatorAddress,
  ].map((text) => text.slice(0, maxText));
  const text = JSON.stringify({ ...entry, host, publicAddress, operatorAddress });
  if (Buffer.byteLength(text) > maxEntryBytes)
    throw new Error(`the entry of an instance is larger than ${maxEntryBytes} bytes`);
  return text;
}

export function readEntry(id: string, text: string): FleetInstance {
  const value = parse(text);
  return { ...(check.Check(value) ? value : unreadable), id };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
