import type { Redis } from "ioredis";
import { errors, type Adapter, type AdapterPayload } from "oidc-provider";
import { scriptOf } from "../../../platform/redis/script.ts";
import { refreshGraceMs } from "../../../platform/security/tokens.ts";
import { systemClock, type Clock } from "../../../platform/time/clock.ts";
import { storedKey } from "./stored-key.ts";

/** Lifetime of what is known about a grant's tokens in seconds, longer than theirs. */
const grantNoteSeconds = 31 * 86_400;
/** Default lifetime in seconds. */
const defaultSeconds = 600;
const useScript = scriptOf("server/features/oauth/domain/use-refresh-token.lua");

export interface StoreOptions {
  redis: Redis;
  clock: Clock;
  findClient: (clientId: string) => Promise<AdapterPayload | undefined>;
  /** Ends the session of a grant; called when the grant is destroyed. */
  endGrant: (grantId: string) => Promise<void>;
}

/**
 * Storage of the protocol library in Redis; each entry expires. Keys are hashes of ids, and entries do not contain
 * the id, so that a reader of Redis cannot use a code or token (S4).
 */
export function createStore(options: StoreOptions): (model: string) => Adapter {
  return (model) => new RedisStore(model, options);
}

class RedisStore implements Adapter {
  readonly #model: string;
  readonly #options: StoreOptions;

  constructor(model: string, options: StoreOptions) {
    this.#model = model;
    this.#options = options;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn = defaultSeconds): Promise<void> {
    const { redis } = this.#options;
    const { jti: _id, ...stored } = payload;
    const seconds = Math.max(1, Math.ceil(expiresIn));
    await redis.set(this.#key(id), JSON.stringify(stored), "EX", seconds);
    // A login of ten minutes: its id is useless without the cookies of the same browser.
    if (payload.uid !== undefined && this.#model === "Session")
      await redis.set(`oauth:uid:${payload.uid}`, id, "EX", seconds);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (this.#model === "Client") return this.#options.findClient(id);
    const { redis } = this.#options;
    const [text, used] = await Promise.all([
      redis.get(this.#key(id)),
      redis.get(this.#usedKey(id)),
    ]);
    if (text === null) return undefined;
    const payload = JSON.parse(text) as AdapterPayload;
    const { grantId } = payload;
    if (grantId !== undefined && (await redis.exists(`oauth:void:${grantId}`)) > 0)
      return undefined;
    return { ...payload, jti: id, ...(used === null ? {} : { consumed: Number(used) }) };
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const id = await this.#options.redis.get(`oauth:uid:${uid}`);
    return id === null ? undefined : this.find(id);
  }

  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** A use of a code or refresh token; a replay voids the grant (S4, S6). */
  async consume(id: string): Promise<void> {
    const isAllowed =
      this.#model === "RefreshToken" ? await this.#useRefreshToken(id) : await this.#useOnce(id);
    if (isAllowed) return;
    const grantId = (await this.find(id))?.grantId;
    if (grantId !== undefined) {
      await this.revokeByGrantId(grantId);
      await this.#options.endGrant(grantId);
    }
    throw new errors.InvalidGrant("already consumed");
  }

  /** One of concurrent calls succeeds. */
  async #useOnce(id: string): Promise<boolean> {
    const { redis, clock } = this.#options;
    const seconds = await redis.ttl(this.#key(id));
    const now = String(Math.floor(clock.now() / 1_000));
    return seconds > 0 && (await redis.set(this.#usedKey(id), now, "EX", seconds, "NX")) === "OK";
  }

  /**
   * The library numbers the tokens of a grant by their rotations: those of one number are one generation, however many
   * were given in the grace (OA-08).
   */
  async #useRefreshToken(id: string): Promise<boolean> {
    const { redis, clock } = this.#options;
    const token = await this.find(id);
    if (token?.grantId === undefined) return false;
    const generation = token.rotations ?? 0;
    const offset = clock.now() - systemClock.now();
    const key = `oauth:generation:${token.grantId}`;
    const limits = [refreshGraceMs, grantNoteSeconds];
    return (await useScript(redis, [key], generation, offset, ...limits)) === 1;
  }

  async destroy(id: string): Promise<void> {
    await this.#options.redis.del(this.#key(id));
    if (this.#model === "Grant") await this.#options.endGrant(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#options.redis.set(`oauth:void:${grantId}`, "1", "EX", grantNoteSeconds);
  }

  #key(id: string): string {
    return storedKey(this.#model, id);
  }

  /** Of a used code, or of a refresh token that an earlier version of the service has seen used. */
  #usedKey(id: string): string {
    return `${this.#key(id)}:used`;
  }
}
