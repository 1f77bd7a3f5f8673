import { randomBytes } from "node:crypto";
import argon2 from "argon2";
import { AppError } from "./errors.ts";

/** Argon2id off the event loop, bounded: 4 at once, 64 waiting, then `server:unavailable` (TOK-15, S3). */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** False for a null hash too, after the same work (S1). */
  verify(hash: string | null, password: string): Promise<boolean>;
  needsRehash(hash: string): boolean;
}

export interface PasswordParameters {
  type: typeof argon2.argon2id;
  /** In KiB. */
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

export const passwordParameters: PasswordParameters = {
  type: argon2.argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};
/** Hashes at once in one process. */
export const maxParallelHashes = 4;
const maxWaiting = 64;

/** One per process: the bound holds for everything it hashes. */
export function createPasswordHasher(parameters = passwordParameters): PasswordHasher {
  const bounded = createBound(maxParallelHashes, maxWaiting);
  const dummy = unreachableHash(parameters);
  return {
    hash: (password) => bounded(() => argon2.hash(password, parameters)),
    verify: (hash, password) =>
      bounded(async () => {
        const isRight = await argon2.verify(hash ?? dummy, password);
        return hash !== null && isRight;
      }),
    needsRehash: (hash) => argon2.needsRehash(hash, parameters),
  };
}

/** A hash of these parameters that no known password has. */
function unreachableHash({ memoryCost, timeCost, parallelism }: PasswordParameters): string {
  const part = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${part(16)}$${part(32)}`;
}

/** Runs at most `parallel` works at once, the next `waiting` in order; refuses the rest. */
function createBound(parallel: number, waiting: number) {
  let running = 0;
  const queue: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= parallel) {
      if (queue.length >= waiting)
        throw new AppError("server:unavailable", { params: { retry_after: 1 } });
      // The finished work hands its place over, so that `running` never passes the bound.
      await new Promise<void>((resolve) => queue.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
