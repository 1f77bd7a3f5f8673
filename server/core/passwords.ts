/** Argon2id off the event loop, bounded: 4 at once, 64 waiting, then `server:unavailable` (TOK-15, S3). */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** False for a null hash too, after the same work (S1). */
  verify(hash: string | null, password: string): Promise<boolean>;
  needsRehash(hash: string): boolean;
}
