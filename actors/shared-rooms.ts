import type { Origin } from "../server/platform/origin.ts";
import type { Tracer } from "../server/platform/tracing/tracer.ts";
import type { RoomList, RoomSource, SnapshotMessage } from "../server/platform/room-source.ts";
import { Leases } from "./cluster/leases.ts";
import { Membership } from "./cluster/membership.ts";
import { readOwners, takeoversIn, type Takeover } from "./cluster/owner-history.ts";
import { Placement } from "./cluster/placement.ts";
import type { LocatedRoom, OwnedRooms, Reply, RoomNode, RoomsOfKind } from "./contract.ts";
import { RoomJobs } from "./jobs.ts";
import type { Connections } from "./log/connection.ts";
import { IndexKeeper } from "./log/index-keeper.ts";
import { Journal } from "./log/journal.ts";
import { Keyspace, shardOf } from "./log/keys.ts";
import { readRoomEvents } from "./log/room-events.ts";
import { Rooms } from "./rooms.ts";
import { Router } from "./router.ts";
import type { BaseCommand } from "./rules.ts";
import type { Shared } from "./shared.ts";
import { WaitingCommands } from "./waiting-commands.ts";
import { CommitFollowers } from "./wire/commit-followers.ts";
import { PeerLinks } from "./wire/peer-links.ts";
import { Remote } from "./wire/remote.ts";

/** What observes the rooms of a process. */
export interface RoomObservers {
  /** Called when the first room enters memory and when the last one leaves. */
  onOccupied?: ((isOccupied: boolean) => void) | undefined;
  /** This process owns rooms of another one, which did not hand them over. Must not wait. */
  onTakeover?: ((takeover: Takeover) => void) | undefined;
  /** Makes traces; default: there are none. */
  tracer?: Tracer | null | undefined;
}

export interface SharedRoomsDeps
  extends
    Pick<Shared, "clock" | "kind" | "log" | "metrics" | "nodeId" | "shards" | "timing" | "timings">,
    RoomObservers {
  connections: Connections;
  /** Name of this process for operators, without spaces; default: its node id. */
  processName?: string | undefined;
  /** Folder with the sockets of this machine's processes; null: they communicate over Redis. */
  linkDir: string | null;
}

/**
 * The rooms of a kind, which this process shares with others. Each part is made after those it calls; what must call
 * back is a signal of the earlier part.
 */
export class SharedRooms implements RoomsOfKind<BaseCommand> {
  readonly kind: string;
  readonly node: RoomNode;
  readonly room: RoomSource;
  readonly list: RoomList | null;
  readonly #deps: SharedRoomsDeps;
  readonly #keys: Keyspace;
  readonly #membership: Membership;
  readonly #leases: Leases;
  readonly #rooms: Rooms;
  readonly #placement: Placement;
  readonly #links: PeerLinks | null;
  readonly #remote: Remote;
  readonly #waiting: WaitingCommands;
  readonly #router: Router;
  readonly #index: IndexKeeper | null;
  #numIds = 0;
  #isStopped = false;

  constructor(deps: SharedRoomsDeps) {
    this.#deps = deps;
    const { kind, nodeId, timings, log, tracer = null, onOccupied } = deps;
    const { commits, control: redis } = deps.connections;
    const keys = new Keyspace(kind.keyPrefix);
    // Unique within this process, whose name is unique too.
    const newId = () => `${nodeId}.${++this.#numIds}`;
    const isOver = () => this.#isStopped || this.#placement.isLast();
    const shared: Shared = { ...deps, keys, redis, tracer, newId, isOver };

    const membership = new Membership(shared);
    const processName = deps.processName ?? nodeId;
    const leases = new Leases({ ...shared, processName, membership });
    const journal = new Journal({
      ...shared,
      redis: commits,
      counted: commits.isSharded ? null : { nodeId, deadMs: timings.deadMs },
      isConfirmedAlive: () => membership.isConfirmedAlive(),
    });
    const followers = new CommitFollowers(log, leases);
    const rooms = new Rooms({ ...shared, journal, followers, leases, onOccupied });
    const placed = { membership, leases, rooms, followers, journal };
    this.#placement = new Placement({ ...shared, ...placed });
    this.#links = deps.linkDir === null ? null : new PeerLinks({ dir: deps.linkDir, nodeId, log });
    const links = this.#links;
    const remote = new Remote({ ...shared, redis: commits, links, membership, rooms });
    const waiting = new WaitingCommands({ ...shared, leases });
    const router = new Router({ ...shared, leases, rooms, remote, waiting });
    new RoomJobs({ ...shared, rooms, router });
    const { index } = kind;
    this.#index = index ? new IndexKeeper(index, { ...shared, leases, rooms, router }) : null;

    leases.claimed.on((shards) => {
      for (const takeover of takeoversIn(kind.kind, shards)) this.#tookOver(takeover);
    });
    this.#keys = keys;
    this.#membership = membership;
    this.#leases = leases;
    this.#rooms = rooms;
    this.#remote = remote;
    this.#waiting = waiting;
    this.#router = router;
    this.kind = kind.kind;
    this.node = { keyPrefix: kind.keyPrefix, nodeId };
    this.room = this.#source(followers);
    this.list = index
      ? { name: index.name, channel: index.name, read: () => this.listIndex() }
      : null;
  }

  /** Subscribes to the messages of other processes; commands can be forwarded from then on. */
  async listen(): Promise<void> {
    const { subscriber, watch } = this.#deps.connections;
    const placement = this.#placement;
    watch(
      (isUp) => placement.connectionChanged(isUp),
      () => this.#membership.connectionRefused(),
    );
    const { mapChannel, deadChannel } = this.#keys;
    const ownChannel = this.#keys.workerChannel(this.node.nodeId);
    await subscriber.listen(
      [ownChannel, mapChannel, deadChannel],
      (channel, message) => {
        if (channel === ownChannel) this.#remote.receive(message);
        else placement.receive(channel, message);
      },
      () => placement.mapChanged(),
    );
  }

  ask(code: string, command: BaseCommand, key?: string, origin?: Origin): Promise<Reply> {
    return this.#router.ask(code, command, key, origin);
  }

  ownerPort(code: string): number | null {
    return this.#leases.portOf(shardOf(code));
  }

  async listIndex(): Promise<string> {
    return this.#index?.read(this.#deps.clock.now()) ?? "[]";
  }

  describe(): OwnedRooms {
    return {
      nodeId: this.node.nodeId,
      shards: this.#leases.count,
      actors: this.#rooms.count,
      pending: this.#rooms.waiting + this.#remote.pending + this.#waiting.count,
      ...this.#rooms.describe(),
    };
  }

  owns(code: string): boolean {
    return this.#leases.tokenOf(shardOf(code)) !== null;
  }

  async locate(code: string): Promise<LocatedRoom | null> {
    const view = await this.#view(code);
    if (!view) return null;
    const shard = shardOf(code);
    const { control } = this.#deps.connections;
    const due = await control.zscore(this.#keys.due(shard), code);
    const owner = this.#leases.liveOwnerOf(shard)?.nodeId ?? null;
    const numCommands = this.#rooms.commandsOf(code);
    const [owners, events] = await Promise.all([
      readOwners(control, this.#keys.owners(shard)),
      readRoomEvents(control, this.#keys.stream(code)),
    ]);
    const { seq, status } = view;
    return {
      ...{ code, shard, seq, owner, numCommands, owners, events },
      status: typeof status === "string" ? status : null,
      deadline: due === null ? null : Number(due),
    };
  }

  join(ownPort: number | null = null): Promise<void> {
    this.#membership.ownPort = ownPort;
    return this.#placement.start();
  }

  handOver(): Promise<void> {
    return this.#placement.stop();
  }

  async stop(): Promise<void> {
    this.#rooms.stop();
    this.#index?.stop();
    await this.#placement.stop();
    this.#isStopped = true;
    await this.#remote.stop();
    this.#links?.close();
    this.#deps.connections.close();
  }

  #source(commits: CommitFollowers): RoomSource {
    const { kind, nodeId } = this.#deps;
    const { keyPrefix, delivery } = kind;
    const publishSpectators = async (code: string, count: number) => {
      const command = kind.spectators?.(nodeId, count);
      if (command) await this.ask(code, command);
    };
    return {
      ...{ keyPrefix, keys: this.#keys, commits, delivery },
      snapshotOf: (code) => this.#snapshot(code),
      ...(kind.spectators && { publishSpectators }),
    };
  }

  async #snapshot(code: string): Promise<SnapshotMessage | null> {
    const { kind, clock } = this.#deps;
    const snapshot = await this.#view(code);
    if (!snapshot) return null;
    const { seq } = snapshot;
    const message = {
      type: `${kind.kind}.snapshot`,
      topic: kind.topic(code),
      seq,
      at_ms: clock.now(),
      data: { [kind.kind]: snapshot },
    };
    return { seq, payload: JSON.stringify(message) };
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

  /** The public view of a room, from its owner; null if the room does not exist. */
  async #view(code: string): Promise<{ seq: number; status?: unknown } | null> {
    const { kind, read, notFound } = this.#deps.kind;
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
}
