import type { MikroORM } from "@mikro-orm/postgresql";
import type { Archive, Games } from "../db/archive.ts";
import { readDirectory, readGeneration } from "../db/queries/codex-directory.ts";
import { archiveNewsChannel } from "./core/archive-news.ts";
import { createChannels, type Channels } from "./core/channels.ts";
import { createGate } from "./core/gate.ts";
import type { Logger } from "./core/logger.ts";
import type { Metrics } from "./core/metrics.ts";
import { createSizedCache } from "./core/sized-cache.ts";

const maxBodyBytes = 64 * 1024 * 1024;
const maxPairBytes = 16 * 1024 * 1024;
const maxListBytes = 16 * 1024 * 1024;
/** What a pair costs besides its texts. */
const pairBytes = 96;
/** A message about an import may get lost; this often the database is asked as well. */
const checkMs = 2_000;
/** Large documents built at a time, and requests that wait for their turn. */
const builds = { running: 2, waiting: 32 };
/** The same of lists whose filters look into documents. */
const scans = { running: 2, waiting: 100 };

export interface ArchiveOptions {
  orm: MikroORM;
  redisUrl: string;
  log: Logger;
  metrics: Metrics;
}

/** The archive as one process reads it. Nothing is asked of a store before the first read. */
export function createArchive(options: ArchiveOptions): Archive & { stop(): void } {
  const { orm, metrics } = options;
  const count = (kind: string) => {
    const hits = metrics.archiveCache.labels({ kind, outcome: "hit" });
    const misses = metrics.archiveCache.labels({ kind, outcome: "miss" });
    return (isHit: boolean) => (isHit ? hits : misses).inc();
  };
  const follower = new GamesFollower(options);
  return {
    games: () => follower.games(),
    reload: () => follower.reload(),
    stop: () => follower.stop(),
    bodies: createSizedCache({
      maxBytes: maxBodyBytes,
      // Text may take two bytes a character.
      sizeOf: ({ content }) => (typeof content === "string" ? 2 : 1) * content.length,
      onUse: count("body"),
    }),
    pairs: createSizedCache({
      maxBytes: maxPairBytes,
      sizeOf: (pairs) => pairs.reduce((sum, { key }) => sum + pairBytes + key.length, 0),
      onUse: count("pairs"),
    }),
    lists: createSizedCache({
      maxBytes: maxListBytes,
      sizeOf: (ids) => ids.byteLength,
      onUse: count("lists"),
    }),
    builds: createGate(builds),
    scans: createGate(scans),
    fork: () => orm.em.fork(),
  };
}

/** Keeps the list of games, branches and patches as the last import left it. */
class GamesFollower {
  private readonly options: ArchiveOptions;
  private known: Games | null = null;
  private generation = -1;
  private loading: Promise<Games> | null = null;
  private isMoved = false;
  private channels: Channels | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(options: ArchiveOptions) {
    this.options = options;
  }

  games(): Games | Promise<Games> {
    if (this.known !== null && this.loading === null) return this.known;
    if (this.timer === null) this.follow();
    return this.loading ?? this.reload();
  }

  reload(): Promise<Games> {
    this.isMoved = true;
    this.loading ??= this.load().finally(() => (this.loading = null));
    return this.loading;
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.channels?.close();
  }

  private async load(): Promise<Games> {
    const em = this.options.orm.em.fork();
    while (this.isMoved) {
      this.isMoved = false;
      const games = await readDirectory(em);
      this.known = new Map(games.map((game) => [game.slug, game]));
      this.generation = games.reduce((sum, game) => sum + game.generation, 0);
    }
    return this.known ?? new Map();
  }

  private follow(): void {
    const { redisUrl, log } = this.options;
    this.timer = setInterval(() => void this.check(), checkMs);
    this.timer.unref();
    this.channels = createChannels({
      url: redisUrl,
      log,
      name: "archive-news",
      hear: () => this.reload().catch(() => {}),
      // Every time they are back: what was said meanwhile nobody heard.
      confirmed: () => void this.check(),
    });
    this.channels.follow(archiveNewsChannel);
  }

  private async check(): Promise<void> {
    try {
      const generation = await readGeneration(this.options.orm.em.fork());
      if (generation !== this.generation) await this.reload();
    } catch (error) {
      this.options.log.warn({ reason: String(error) }, "archive not checked");
    }
  }
}
