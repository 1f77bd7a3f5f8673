import { createId, serviceId } from "./config/service-id.ts";
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

/** Call it once, at the start of the process. */
export const createInstance = (about: Omit<Instance, "id" | "build">): Instance => ({
  id: createId(),
  ...about,
  build: buildDigest,
});

/** The first process, whose id names the whole service. */
export const createPrimary = (version: string): Instance => ({
  ...createInstance({ role: "primary", index: 0, version }),
  id: serviceId,
});

/** For job logs and pages, such as `jobs-0@x7k2m9q4w1ab`. */
export const nameOfInstance = ({ id, role, index }: Instance): string => `${role}-${index}@${id}`;
