import { randomBytes } from "node:crypto";
import argon2 from "argon2";
import { createConcurrencyLimiter } from "../tasks/concurrency-limiter.ts";

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
/** Concurrent hashes of a process. */
export const maxParallelHashes = 4;
const maxWaiting = 64;

/** One per process, so that the limit covers all hashing. */
export function createPasswordHasher(parameters = passwordParameters): PasswordHasher {
  const limiter = createConcurrencyLimiter({ running: maxParallelHashes, waiting: maxWaiting });
  const dummy = unreachableHash(parameters);
  return {
    hash: (password) => limiter.run(() => argon2.hash(password, parameters)),
    verify: (hash, password) =>
      limiter.run(async () => {
        const isRight = await argon2.verify(hash ?? dummy, password);
        return hash !== null && isRight;
      }),
    needsRehash: (hash) => argon2.needsRehash(hash, parameters),
  };
}

/** A hash with these parameters that matches no password. */
function unreachableHash({ memoryCost, timeCost, parallelism }: PasswordParameters): string {
  const part = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${part(16)}$${part(32)}`;
}
