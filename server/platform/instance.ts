import { randomString } from "./ids.ts";
import { buildDigest } from "./version.ts";

/** One start of one process. */
export interface Instance {
  /** Unique: a process that starts again in the same place has another id. */
  readonly id: string;
  /** Such as `http` or `jobs`. */
  readonly role: string;
  /** Its place among the processes of its role. */
  readonly index: number;
  /** Version of the service. */
  readonly version: string;
  /** Digest of the sources of its build. */
  readonly build: string;
}

const idLength = 12;
const idAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Call it once, at the start of the process. */
export const createInstance = (about: Omit<Instance, "id" | "build">): Instance => ({
  id: randomString(idLength, idAlphabet),
  ...about,
  build: buildDigest,
});

/** For job logs and pages, such as `jobs-0@x7k2m9q4w1ab`. */
export const nameOfInstance = ({ id, role, index }: Instance): string => `${role}-${index}@${id}`;
