import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { Static, TObject } from "typebox";
import type { Lobbies } from "../../actors/index.ts";
import type { Archive } from "../../db/archive.ts";
import type { QueueDefinition } from "../../workers/queues.ts";
import type { PictureCache } from "../features/avatars/domain/picture-cache.ts";
import type { PictureStore } from "../features/avatars/domain/picture-store.ts";
import type { ProviderPictures } from "../features/avatars/domain/provider-pictures.ts";
import type { Moderator } from "../features/avatars/domain/moderation.ts";
import type { Leaderboards } from "../features/leaderboards/domain/leaderboards.ts";
import type { ResponseCache } from "../platform/cache/response-cache.ts";
import type { ClosedAccounts } from "../platform/security/closed-accounts.ts";
import type { ApiKeyCache } from "../platform/security/api-keys.ts";
import type { Clock } from "../platform/time/clock.ts";
import type { Config } from "../platform/config/config.ts";
import type { Logger } from "../platform/log/logger.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import type { PasswordHasher } from "../platform/security/passwords.ts";
import type { TokenService } from "../platform/security/tokens.ts";
import type { Senders } from "../features/delivery/providers/messages.ts";
import type { QuestionModel } from "../features/questions/providers/question-model.ts";
import type { OAuthServer } from "../features/oauth/domain/server.ts";
import type { Hub } from "../sse/delivery/hub.ts";

/** What a job may reach; a handler has more. */
export interface JobDeps {
  config: Config;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  /** General commands: limits, lists, caches. Fails at once while the store is away. */
  redis: Redis;
  orm: MikroORM;
  /** A fork of its own for each request and job. */
  readonly em: EntityManager;
  /** Finished bodies that are the same for everyone. */
  bodies: ResponseCache;
  /** Leaderboards, as the database has them. */
  leaderboards: Leaderboards;
  questionModel: QuestionModel;
  /** Questions that no network and no other process is needed for. */
  questionBank: QuestionModel;
  /** Ways of sending; what has something to say goes through server/features/delivery/domain/send.ts. */
  senders: Senders;
  /** Where uploaded pictures are kept. */
  pictureStore: PictureStore;
  /** Judges uploaded pictures; for jobs. */
  moderator: Moderator;
  /** Adds a job; the same job id twice is one job. */
  enqueue: <P extends TObject>(queue: QueueDefinition<P>, payload: Static<P>) => Promise<string>;
  /** Adds a job and waits for it: true when it completed within `timeoutMs`. */
  enqueueAndWait: <P extends TObject>(
    queue: QueueDefinition<P>,
    payload: Static<P>,
    timeoutMs: number,
  ) => Promise<boolean>;
}

/** Everything a handler may reach. Built once per process (server/app/assemble.ts), handed down as a value. */
export interface Deps extends JobDeps {
  /**
   * A fork whose statements and transactions count against the share of the pool that a caller has, be it a player
   * or an address; that of a request is one.
   */
  emFor: (who: string) => EntityManager;
  tokens: TokenService;
  /** Whose access tokens no longer count, though they have not expired (TOK-11). */
  closedAccounts: ClosedAccounts;
  passwords: PasswordHasher;
  /** Uploaded pictures as they are drawn. */
  pictures: PictureCache;
  providerPictures: ProviderPictures;
  keys: ApiKeyCache;
  /** Numbers for new lobbies and seats, unique over all processes. */
  ids: { lobby(): Promise<number>; seat(): Promise<number> };
  lobbies: Lobbies;
  archive: Archive;
  /** Sign-in at other programs with an account of ours. */
  oauth: OAuthServer;
  hub: Hub;
}
