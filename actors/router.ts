import { noOrigin, type Origin } from "../../../server/platform/origin.ts";
import type {
  OwnRoomSource,
  RoomList,
  SnapshotMessage,
} from "../../../server/platform/room-source.ts";
import type {
  ActorNode,
  Actors,
  AnyActor,
  BaseCommand,
  BaseEvent,
  BaseState,
  LocatedActor,
  OwnedActors,
  Reply,
} from "../definition.ts";
import { CommitFollowers } from "../mailbox/commit-followers.ts";
import { keyedId } from "../mailbox/command-id.ts";
import { ActorJobs } from "../mailbox/jobs.ts";
import { Mailboxes } from "../mailbox/mailboxes.ts";
import { createTicker, type Ticker } from "../mailbox/ticker.ts";
import { Placement } from "../placement/placement.ts";
import { readOwners, type Takeover } from "../placement/owner-history.ts";
import type { ShardActors, ShardListener } from "../placement/shard-listener.ts";
import { ActorIndex } from "../storage/actor-index.ts";
import { IndexRepair } from "../storage/index-repair.ts";
import { Journal } from "../storage/journal.ts";
import { Keyspace, shardOf } from "../storage/keys.ts";
import { readRoomEvents } from "../storage/room-events.ts";
import type { Cancel } from "../timing.ts";
import { notOwner, unavailable, type Outcome } from "./outcome.ts";
import { heldActors, summaryOf, type ActorView } from "./operator-view.ts";
import { PeerLinks } from "./peer-links.ts";
import { Remote } from "./remote.ts";
import type { RouterDeps } from "./router-deps.ts";
import { WaitingCommands } from "./waiting-commands.ts";

const sweepMs = 30_000;

/** Maximum number of actors shown to operators per process. */
const maxDescribed = 100;

/** What every part of a kind of actor needs. */
type OfKind = Pick<RouterDeps, "definition" | "nodeId" | "timing" | "log"> & { keys: Keyspace };

/** Routes commands of a kind of actor to the mailbox here or to the process that owns the shard. */
export class Router implements Actors<BaseState, BaseCommand> {
  readonly kind: string;
  readonly node: ActorNode;
  readonly room: OwnRoomSource;
  readonly list: RoomList | null;
  readonly #deps: RouterDeps;
  readonly #definition: AnyActor;
  readonly #keys: Keyspace;
  readonly #ticker: Ticker;
  readonly #journal: Journal;
  readonly #jobs: ActorJobs;
  readonly #index: ActorIndex | null;
  readonly #indexRepair: IndexRepair;
  readonly #placement: Placement;
  readonly #waiting: WaitingCommands;
  readonly #mailboxes: Mailboxes;
  readonly #followers: CommitFollowers;
  readonly #remote: Remote;
  readonly #links: PeerLinks | null;
  readonly #counters = new Map<string, { inc(): void }>();
  #numIds = 0;
  #ownPort: number | null = null;
  #isStopped = false;
  #stopSweeper: Cancel = () => undefined;

  constructor(deps: RouterDeps) {
    const { definition, log, metrics, clock, nodeId, timing } = deps;
    const { commits, control } = deps.connections;
    const now = () => clock.now();
    const { kind, keyPrefix, index } = definition;
    this.kind = kind;
    this.node = { keyPrefix, nodeId };
    this.#deps = deps;
    this.#definition = definition;
    this.#keys = new Keyspace(keyPrefix);
    this.#followers = new CommitFollowers(log);
    this.room = {
      keyPrefix,
      keys: this.#keys,
      commits: this.#followers,
      delivery: definition.delivery,
      snapshotOf: (code) => this.snapshot(code),
    };
    this.list = index
      ? { name: index.name, channel: index.name, read: () => this.listIndex() }
      : null;
    const ofKind: OfKind = { definition, keys: this.#keys, nodeId, timing, log };
    this.#ticker = createTicker(now, timing, (code) => this.#mailboxes.fire(code));
    this.#journal = new Journal({
      ...ofKind,
      redis: commits,
      metrics,
      counted: commits.isSharded ? null : { nodeId, deadMs: deps.timings.deadMs },
      isConfirmedAlive: () => this.#placement.isConfirmedAlive(),
    });
    this.#jobs = new ActorJobs({
      ...ofKind,
      ask: (code, command, origin) => this.ask(code, command, undefined, origin),
    });
    this.#index = index ? new ActorIndex(control, index) : null;
    this.#indexRepair = this.#newIndexRepair();
    this.#placement = this.#newPlacement(ofKind);
    this.#waiting = new WaitingCommands({
      timing,
      retryMs: deps.timings.retryMs,
      ownerOf: (shard) => this.#placement.ownerOf(shard),
      reload: () => this.#placement.reload(),
      isOver: () => this.#isStopped || this.#placement.isLast(),
    });
    this.#mailboxes = this.#newMailboxes(ofKind);
    this.#links =
      deps.linkDir === null
        ? null
        : new PeerLinks({
            ...ofKind,
            dir: deps.linkDir,
            receive: (message) => this.#remote.receive(message),
            onLost: (node) => this.#remote.giveUp(node),
          });
    this.#remote = new Remote({
      ...ofKind,
      links: this.#links,
      redis: commits,
      metrics,
      deliver: (code, command, id, origin) => this.#mailboxes.deliver(code, command, id, origin),
    });
  }

  #newIndexRepair(): IndexRepair {
    const { log, timing } = this.#deps;
    return new IndexRepair({
      timing,
      codesIn: async (shards) => this.#index?.codesIn(shards) ?? [],
      repair: (code) => this.#repairEntry(code),
      onFailure: (error) => {
        const facts = { event: "index_repair_failed", reason: String(error) };
        log.warn(facts, "index not repaired, retrying");
      },
    });
  }

  #newPlacement(ofKind: OfKind): Placement {
    const { connections, timings, shards, metrics } = this.#deps;
    return new Placement({
      ...ofKind,
      kind: this.kind,
      processName: this.#deps.processName ?? this.node.nodeId,
      ownPort: () => this.#ownPort,
      redis: connections.control,
      timings,
      shards,
      listener: this.#shardListener(),
      actors: this.#shardActors(),
      onMapLoaded: () => this.#waiting.mapLoaded(),
      onNodeDown: (node) => {
        this.#links?.drop(node);
        this.#remote.giveUp(node);
      },
      onTakeover: (takeover) => this.#tookOver(takeover),
      metrics,
      untilCommitsSettle: () => this.#journal.idle(),
    });
  }

  #tookOver(takeover: Takeover): void {
    const { log, onTakeover } = this.#deps;
    const { from, cause, numShards, numRooms, codes } = takeover;
    const facts = { kind: this.kind, from, cause, num_shards: numShards, num_rooms: numRooms };
    log.warn(
      { event: "shards_taken_over", ...facts, rooms: codes },
      "rooms of another process taken over; nothing is needed",
    );
    onTakeover?.(takeover);
  }

  #newMailboxes(ofKind: OfKind): Mailboxes {
    const { connections, metrics, clock, onOccupied } = this.#deps;
    return new Mailboxes({
      ...ofKind,
      redis: connections.control,
      journal: this.#journal,
      followers: this.#followers,
      placement: this.#placement,
      ticker: this.#ticker,
      metrics,
      now: () => clock.now(),
      nextCommitId: () => this.#nextId(),
      afterCommit: (code, state, events, cause) => this.#afterCommit(code, state, events, cause),
      afterUnknown: (code) => this.#queueRepair(code),
      afterRead: (code, state, cause) => this.#jobs.resume(code, state, cause),
      onOccupied,
    });
  }

  /** Subscribes to the messages of other processes; commands can be forwarded from then on. */
  async listen(): Promise<void> {
    const { connections, timing } = this.#deps;
    const { subscriber } = connections;
    const changed = (isUp: boolean) => this.#placement.connectionChanged(isUp);
    connections.watch(changed, () => this.#placement.connectionRefused());
    const ownChannel = this.#keys.workerChannel(this.node.nodeId);
    subscriber.on("message", (channel: string, message: string) => {
      if (channel === ownChannel) this.#remote.receive(message);
      else this.#placement.receive(channel, message);
    });
    subscriber.onResumed(() => this.#placement.resumed());
    const { mapChannel, deadChannel } = this.#keys;
    await subscriber.subscribe(ownChannel, mapChannel, deadChannel);
    this.#stopSweeper = timing.every(sweepMs, () => this.#mailboxes.sweep());
  }

  /**
   * While the owner changes or does not respond, the command id makes retries idempotent. During a shutdown
   * of the whole service no owner will come, and waiting would delay the shutdown.
   */
  async ask(
    code: string,
    command: BaseCommand,
    key?: string,
    origin: Origin = noOrigin,
  ): Promise<Reply> {
    const { timing, timings, metrics } = this.#deps;
    const id = key === undefined ? this.#nextId() : keyedId(command.type, key);
    const startedAt = timing.elapsed();
    const deadline = startedAt + timings.timeoutMs;
    let outcome = await this.#attempt(code, command, id, origin);
    while (
      outcome === notOwner &&
      this.#mayWait(deadline) &&
      (await this.#waiting.turn(shardOf(code), deadline))
    )
      outcome = await this.#attempt(code, command, id, origin);
    const reply = outcome === notOwner ? unavailable : outcome;
    metrics.commandSeconds.observe((timing.elapsed() - startedAt) / 1_000);
    this.#count(command.type, reply.ok ? "ok" : reply.code);
    return reply;
  }

  async snapshot(code: string): Promise<SnapshotMessage | null> {
    const { kind } = this.#definition;
    const snapshot = await this.#view(code);
    if (!snapshot) return null;
    const { seq } = snapshot;
    const message = {
      type: `${kind}.snapshot`,
      topic: this.#definition.topic(code),
      seq,
      at_ms: this.#deps.clock.now(),
      data: { [kind]: snapshot },
    };
    return { seq, payload: JSON.stringify(message) };
  }

  ownerPort(code: string): number | null {
    return this.#placement.ownerPort(shardOf(code));
  }

  async listIndex(): Promise<string> {
    return this.#index?.read(this.#deps.clock.now()) ?? "[]";
  }

  describe(): OwnedActors {
    const { clock } = this.#deps;
    return {
      nodeId: this.node.nodeId,
      shards: this.#placement.owned,
      actors: this.#mailboxes.actors,
      pending: this.#mailboxes.waiting + this.#remote.pending + this.#waiting.count,
      held: heldActors(this.#definition, this.#mailboxes.some(maxDescribed), clock.now()),
    };
  }

  heldStates(): BaseState[] {
    return this.#mailboxes.some(maxDescribed).map(({ state }) => state);
  }

  owns(code: string): boolean {
    return this.#placement.tokenOf(shardOf(code)) !== null;
  }

  async locate(code: string): Promise<LocatedActor | null> {
    const view = await this.#view(code);
    if (!view) return null;
    const shard = shardOf(code);
    const { control } = this.#deps.connections;
    const due = await control.zscore(this.#keys.due(shard), code);
    const owner = this.#placement.ownerOf(shard)?.nodeId ?? null;
    const numCommands = this.#mailboxes.commandsOf(code);
    const [owners, events] = await Promise.all([
      readOwners(control, this.#keys.owners(shard)),
      readRoomEvents(control, this.#keys.stream(code)),
    ]);
    const summary = summaryOf(code, view, due === null ? null : Number(due));
    return { ...summary, owner, numCommands, owners, events };
  }

  join(ownPort: number | null = null): Promise<void> {
    this.#ownPort = ownPort;
    return this.#placement.start();
  }

  handOver(): Promise<void> {
    return this.#placement.stop();
  }

  async stop(): Promise<void> {
    this.#ticker.stop();
    this.#stopSweeper();
    this.#indexRepair.stop();
    await this.#placement.stop();
    this.#isStopped = true;
    await this.#remote.stop();
    this.#links?.close();
    this.#deps.connections.close();
  }

  /** The public view of an actor, from its owner; null if the actor does not exist. */
  async #view(code: string): Promise<ActorView | null> {
    const { kind, read, notFound } = this.#definition;
    const reply = await this.ask(code, read);
    if (!reply.ok) {
      if (reply.code === notFound) return null;
      throw new Error(`${kind} ${code} could not be read: ${reply.code}`);
    }
    const body = JSON.parse(reply.body ?? "null") as Record<string, { seq: number }>;
    const view = body[kind];
    if (!view) throw new Error(`the answer to a read of ${kind} ${code} has no snapshot`);
    return view;
  }

  #mayWait(deadline: number): boolean {
    return !this.#isStopped && !this.#placement.isLast() && this.#deps.timing.elapsed() < deadline;
  }

  async #attempt(code: string, command: BaseCommand, id: string, origin: Origin): Promise<Outcome> {
    const shard = shardOf(code);
    if (this.#placement.tokenOf(shard) !== null)
      return this.#mailboxes.deliver(code, command, id, origin);
    const owner = this.#placement.ownerOf(shard);
    if (!owner || owner.nodeId === this.node.nodeId) return notOwner;
    return this.#remote.send(owner.nodeId, code, command, id, origin);
  }

  /** Unique within this process, whose name is unique too. */
  #nextId(): string {
    return `${this.node.nodeId}.${++this.#numIds}`;
  }

  /** The counter of each label pair is cached, because the lookup takes longer than the count. */
  #count(type: string, outcome: string): void {
    const key = `${type} ${outcome}`;
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      counter = this.#deps.metrics.command(type, outcome);
      this.#counters.set(key, counter);
    }
    counter.inc();
  }

  async #afterCommit(
    code: string,
    state: BaseState,
    events: BaseEvent[],
    cause: Origin,
  ): Promise<void> {
    this.#jobs.start(code, state, events, cause);
    await this.#index?.update(code, state, events)?.catch((error: unknown) => {
      this.#queueRepair(code);
      throw error;
    });
  }

  #queueRepair(code: string): void {
    if (this.#index) this.#indexRepair.queue(code);
  }

  /** The new owner of a shard checks its entries. */
  async #repairEntry(code: string): Promise<void> {
    const isOurs = () => this.#placement.tokenOf(shardOf(code)) !== null;
    const index = this.#index;
    if (!index || !isOurs()) return;
    const reply = await this.ask(code, this.#definition.read);
    if (!isOurs()) return;
    if (!reply.ok && reply.code === this.#definition.notFound) return index.remove(code);
    if (!reply.ok) throw new Error(`${code}: ${reply.code}`);
    const state = await this.#mailboxes.committed(code);
    if (state) return index.refresh(code, state);
    if (isOurs()) throw new Error(`${code}: read again`);
  }

  #shardListener(): ShardListener {
    const { shards } = this.#deps.metrics;
    return {
      acquired: (shard, isRetained, deadlines) => {
        this.#mailboxes.open(shard, isRetained);
        this.#followers.acquired(shard);
        if (this.#index) this.#indexRepair.claim(shard);
        this.#waiting.shardAcquired(shard);
        shards.set(this.#placement.owned);
        for (const { code, due } of deadlines) this.#mailboxes.restoreDeadline(code, due);
      },
      released: (shard, isRetained) => {
        this.#mailboxes.drop(shard, isRetained);
        this.#followers.released(shard);
        shards.set(this.#placement.owned);
      },
      suspect: () => {
        this.#mailboxes.markSuspect();
        this.#followers.suspect();
      },
    };
  }

  #shardActors(): ShardActors {
    return {
      drain: (shard) => this.#mailboxes.drain(shard),
      suspects: (shard) => this.#mailboxes.suspects(shard),
      markVerified: (shard, codes) => this.#mailboxes.markVerified(shard, codes),
      resync: (code) => this.#mailboxes.resync(code),
      restoreDeadline: (code, due) => this.#mailboxes.restoreDeadline(code, due),
    };
  }
}
