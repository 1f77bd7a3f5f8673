import type { Clock } from "../../../server/platform/time/clock.ts";
import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Metrics } from "../../../server/platform/metrics/metrics.ts";
import type { lobbyResults, PayloadOf } from "../../../workers/queues.ts";
import type { HeldLobby, Lobbies, LobbyReply } from "../../contract.ts";
import type { WireContext } from "../../lobby/snapshot.ts";
import type { DrawnQuestion, DrawPlan, Lobby, LobbyCommand } from "../../lobby/types.ts";
import type { Connections } from "../storage/connection.ts";
import { createEffects } from "../mailbox/effects.ts";
import { createJournal } from "../storage/journal.ts";
import { deadChannel, mapChannel, shardOf, workerChannel } from "../storage/keys.ts";
import { createListing } from "../storage/listing.ts";
import type { ShardTimings } from "../placement/liveness.ts";
import { createMailboxes } from "../mailbox/mailbox.ts";
import { moved, unavailable, type Outcome } from "./outcome.ts";
import type { SeatLimit } from "../mailbox/quota.ts";
import { createRelisting } from "../storage/relisting.ts";
import { createRemote } from "./remote.ts";
import { keyedId } from "../mailbox/repeats.ts";
import { createShards } from "../placement/shards.ts";
import { createTicker } from "../mailbox/ticker.ts";
import type { Timing } from "../timing.ts";
import { createWaiting } from "./waiting.ts";

export interface RouterDeps {
  /** Name of this worker; never used before. */
  incarnation: string;
  connections: Connections;
  timing: Timing;
  /** The shards all workers share out among them. */
  shards: readonly number[];
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  context: WireContext;
  enqueueResult: (payload: PayloadOf<typeof lobbyResults>) => Promise<unknown>;
  /** Draws questions for an endless lobby that runs short (LOB-20). */
  draw: (plan: DrawPlan) => Promise<DrawnQuestion[]>;
  /** Commands of one seat per window; null switches the limit off. */
  seatLimit: SeatLimit | null;
  timings: ShardTimings & AskTimings;
}

/** In milliseconds. */
export interface AskTimings {
  /** How long a caller waits for an owner (LOB-27). */
  patienceMs: number;
  retryMs: number;
}

export const defaultAskTimings: AskTimings = { patienceMs: 5_000, retryMs: 20 };

const sweepMs = 30_000;

/** Lobbies of one process that operators are shown. */
const maxDescribed = 100;

const heldLobby = (lobby: Lobby): HeldLobby => ({
  code: lobby.code,
  status: lobby.status,
  mode: lobby.settings.mode,
  visibility: lobby.settings.visibility,
  players: lobby.seats.length,
  createdAt: lobby.createdAt,
  lastCommandAt: lobby.lastCommandAt,
});

/** Joins the workers that share the lobbies; resolves when this one holds its part of the shards. */
export async function createRouter(deps: RouterDeps): Promise<Lobbies> {
  const { log, metrics, clock, context, incarnation, timing } = deps;
  const { commits, control, subscriber } = deps.connections;
  const now = () => clock.now();
  const listing = createListing(control, context);
  let isStopped = false;
  let numIds = 0;
  const counts = new Map<string, ReturnType<typeof metrics.lobbyCommands.labels>>();
  /** Found once for each type and outcome: to look the labels up takes longer than to count. */
  const countOf = (type: string, outcome: string) => {
    const key = `${type} ${outcome}`;
    const known = counts.get(key) ?? metrics.lobbyCommands.labels({ type, outcome });
    counts.set(key, known);
    return known;
  };
  /** For a command or a commit: no other of this worker has it, and no other worker its name. */
  const nextId = () => `${incarnation}.${++numIds}`;

  const ticker = createTicker(now, timing, (code) => mailboxes.fire(code));
  const journal = createJournal({
    redis: commits,
    metrics,
    timing,
    counted: commits.isSharded ? null : { incarnation, deadMs: deps.timings.deadMs },
    isHeard: () => shards.isHeard(),
  });
  const effects = createEffects({ log, enqueueResult: deps.enqueueResult, draw: deps.draw, ask });
  const shards = createShards({
    incarnation,
    redis: control,
    log,
    timings: deps.timings,
    timing,
    shards: deps.shards,
    hooks: {
      claimed(shard, isOutlived) {
        mailboxes.open(shard, isOutlived);
        relisting.claim(shard);
        waiting.claimed(shard);
        metrics.lobbyShards.set(shards.owned());
      },
      loaded: () => waiting.loaded(),
      deadline: (code, due) => mailboxes.restore(code, due),
      closing: (shard) => mailboxes.close(shard),
      lost(shard, isOutlived) {
        mailboxes.drop(shard, isOutlived);
        metrics.lobbyShards.set(shards.owned());
      },
      doubt: () => mailboxes.doubt(),
      doubtful: (shard) => mailboxes.doubtful(shard),
      trust: (shard, codes) => mailboxes.trust(shard, codes),
      review: (code) => mailboxes.review(code),
      dead: (worker) => remote.giveUp(worker),
      settled: () => journal.idle(),
    },
  });
  const waiting = createWaiting({
    timing,
    retryMs: deps.timings.retryMs,
    ownerOf: shards.ownerOf,
    reload: shards.reload,
    isOver: () => isStopped || shards.isLast(),
  });
  const mailboxes = createMailboxes({
    incarnation,
    redis: control,
    journal,
    placement: shards,
    ticker,
    timing,
    log,
    metrics,
    now,
    rules: { context, seatLimit: deps.seatLimit },
    nextCommitId: nextId,
    async afterCommit(lobby, events) {
      effects.run(lobby, events);
      await listing.update(lobby, events)?.catch((error: unknown) => {
        relisting.owe(lobby.code);
        throw error;
      });
    },
    afterUnknown: (code) => relisting.owe(code),
    afterRead: effects.resume,
  });
  const remote = createRemote({
    incarnation,
    redis: commits,
    metrics,
    timing,
    deliver: mailboxes.deliver,
  });

  const relisting = createRelisting({
    timing,
    listedIn: listing.listedIn,
    relist,
    onFailure: (error) => log.warn({ reason: String(error) }, "public list not put right yet"),
  });

  /** Whoever takes a shard over looks through its entries. */
  async function relist(code: string): Promise<void> {
    const isOurs = () => shards.tokenOf(shardOf(code)) !== null;
    if (!isOurs()) return;
    const reply = await ask(code, { type: "read", by: nobody });
    if (!isOurs()) return;
    if (!reply.ok && reply.code === "lobby:not_found") return listing.remove(code);
    if (!reply.ok) throw new Error(`${code}: ${reply.code}`);
    const lobby = await mailboxes.committed(code);
    if (lobby) return listing.refresh(lobby);
    if (isOurs()) throw new Error(`${code}: read again`);
  }

  async function attempt(code: string, command: LobbyCommand, id: string): Promise<Outcome> {
    const shard = shardOf(code);
    if (shards.tokenOf(shard) !== null) return mailboxes.deliver(code, command, id);
    const owner = shards.ownerOf(shard);
    if (!owner || owner.incarnation === incarnation) return moved;
    return remote.send(owner.incarnation, code, command, id);
  }

  /**
   * While the owner changes or does not answer, the same command id makes asking again harmless. When the whole
   * service stops there is nobody to wait for, and the request would hold up the stop.
   */
  async function ask(code: string, command: LobbyCommand, key?: string): Promise<LobbyReply> {
    const id = key === undefined ? nextId() : keyedId(command.type, key);
    const deadline = timing.elapsed() + deps.timings.patienceMs;
    const mayWait = () => !isStopped && !shards.isLast() && timing.elapsed() < deadline;
    let outcome = await attempt(code, command, id);
    while (outcome === moved && mayWait() && (await waiting.turn(shardOf(code), deadline)))
      outcome = await attempt(code, command, id);
    const reply = outcome === moved ? unavailable : outcome;
    countOf(command.type, reply.ok ? "ok" : reply.code).inc();
    return reply;
  }

  deps.connections.watch(shards.connection, shards.refused);

  const ownChannel = workerChannel(incarnation);
  subscriber.on("message", (channel: string, message: string) => {
    if (channel === ownChannel) remote.receive(message);
    else shards.receive(channel, message);
  });
  subscriber.onResumed(() => shards.resumed());
  await subscriber.subscribe(ownChannel, mapChannel, deadChannel);
  const stopSweeper = timing.every(sweepMs, () => mailboxes.sweep());

  return {
    ask,
    async snapshot(code) {
      const reply = await ask(code, { type: "read", by: nobody });
      if (!reply.ok) {
        if (reply.code === "lobby:not_found") return null;
        throw new Error(`lobby ${code} could not be read: ${reply.code}`);
      }
      const { lobby } = JSON.parse(reply.body ?? "null") as { lobby: { seq: number } };
      const topic = `${context.topicBase}/lobby/${code}`;
      const message = {
        type: "lobby.snapshot",
        topic,
        seq: lobby.seq,
        at_ms: now(),
        data: { lobby },
      };
      return { seq: lobby.seq, payload: JSON.stringify(message) };
    },
    async tellSpectators(code, count) {
      await ask(code, { type: "spectators", worker: incarnation, count });
    },
    listPublic: () => listing.read(now()),
    describe: () => ({
      incarnation,
      shards: shards.owned(),
      actors: mailboxes.actors(),
      pending: mailboxes.waiting() + remote.pending() + waiting.size(),
      lobbies: mailboxes.some(maxDescribed).map(heldLobby),
    }),
    join: () => shards.start(),
    handOver: () => shards.handOver(),
    async stop() {
      ticker.stop();
      stopSweeper();
      relisting.stop();
      await shards.handOver();
      isStopped = true;
      await remote.stop();
      deps.connections.close();
    },
  };
}

const nobody = { seatId: null, playerId: null };
