import type {
  RoomNode,
  RoomsDeps,
  RoomShare,
  LocatedRoom,
  OwnedRooms,
} from "../../actors/index.ts";
import type { HubRooms } from "../features/hub/deps.ts";
import type { RoomAccess, RoomFacts, RoomKind } from "../features/rooms/domain/room-kind.ts";
import type { TopicSources } from "../sse/topics/open-topics.ts";
import type { TopicNames } from "../sse/topics/topics.ts";
import type { JobDeps } from "./job-deps.ts";

export type RoomKinds = Readonly<Record<string, RoomKind<JobDeps, RoomShare>>>;

/** The opened rooms of a list of kinds, by the names of its entries. */
export type RoomsOf<Kinds> = {
  [Name in keyof Kinds]: Kinds[Name] extends {
    open(...given: never[]): Promise<infer Rooms>;
  }
    ? Rooms
    : never;
};

/** Joins the processes that share the rooms of every kind. */
export async function openRooms<Kinds extends RoomKinds>(
  kinds: Kinds,
  deps: JobDeps,
  share: RoomsDeps,
): Promise<{ rooms: Rooms; byName: RoomsOf<Kinds> }> {
  const occupancyOf = sumOccupancy(share.onOccupied);
  const opened = await Promise.all(
    Object.entries(kinds).map(async ([name, kind]) => {
      const rooms = await kind.open(deps, { ...share, onOccupied: occupancyOf(name) });
      const factsOf = kind.facts && ((code: string) => kind.facts?.(rooms, code));
      return { name, rooms, access: kind.access?.(rooms) ?? null, factsOf };
    }),
  );
  // Each member is the result of its own entry.
  const byName = Object.fromEntries(opened.map(({ name, rooms }) => [name, rooms]));
  return { rooms: new Rooms(opened), byName: byName as RoomsOf<Kinds> };
}

/**
 * One observer per kind; `report` is called for the first room in memory, whatever its kind, and for the
 * last.
 */
export function sumOccupancy(report: (isOccupied: boolean) => void = () => undefined) {
  const occupied = new Set<string>();
  return (kind: string) => (isOccupied: boolean) => {
    const wasOccupied = occupied.size > 0;
    if (isOccupied) occupied.add(kind);
    else occupied.delete(kind);
    if (occupied.size > 0 !== wasOccupied) report(occupied.size > 0);
  };
}

interface OpenedKind {
  rooms: RoomShare;
  access: RoomAccess | null;
  factsOf?: ((code: string) => Promise<RoomFacts | null> | undefined) | undefined;
}

/** The rooms of every kind in this process. */
export class Rooms implements HubRooms {
  readonly topicNames: TopicNames;
  readonly #all: readonly RoomShare[];
  readonly #byKind: ReadonlyMap<string, OpenedKind>;

  constructor(opened: readonly OpenedKind[]) {
    this.#all = opened.map(({ rooms }) => rooms);
    this.#byKind = new Map(opened.map((one) => [one.rooms.kind, one]));
    const lists = this.#all.flatMap(({ list }) => (list ? [list.name] : []));
    this.topicNames = { rooms: refuseTwice(this.#all.map(({ kind }) => kind)), lists };
    refuseTwice(lists);
    refuseTwice(this.nodes.map(({ keyPrefix }) => keyPrefix));
  }

  /** This process as a node of each kind, for node-down notices. */
  get nodes(): RoomNode[] {
    return this.#all.map(({ node }) => node);
  }

  get sources(): TopicSources {
    const lists = this.#all.flatMap(({ list }) => (list ? [[list.name, list] as const] : []));
    return {
      rooms: Object.fromEntries(this.#all.map(({ kind, room }) => [kind, room])),
      lists: Object.fromEntries(lists),
    };
  }

  accessTo(kind: string): RoomAccess | null {
    const opened = this.#byKind.get(kind);
    if (opened === undefined) throw new Error(`there are no rooms of the kind ${kind}`);
    return opened.access;
  }

  ownerPort(kind: string, code: string): number | null {
    return this.#byKind.get(kind)?.rooms.ownerPort(code) ?? null;
  }

  /** The rooms that this process owns, by kind. */
  describe(): Record<string, OwnedRooms> {
    return Object.fromEntries(this.#all.map((rooms) => [rooms.kind, rooms.describe()]));
  }

  /** Rooms of every kind in memory. */
  count(): number {
    return this.#all.reduce((total, rooms) => total + rooms.describe().actors, 0);
  }

  /** Whether this process owns a room; false for a kind that does not exist. */
  owns(kind: string, code: string): boolean {
    return this.#byKind.get(kind)?.rooms.owns(code) ?? false;
  }

  /** One room for operators, whichever process owns it; null if it does not exist. */
  async locate(kind: string, code: string): Promise<LocatedRoom | null> {
    return this.#byKind.get(kind)?.rooms.locate(code) ?? null;
  }

  /** What the kind says about one of its rooms; null if it says nothing. */
  async factsOf(kind: string, code: string): Promise<RoomFacts | null> {
    return (await this.#byKind.get(kind)?.factsOf?.(code)) ?? null;
  }

  /** Whether a seat exists; null if the kind does not know. */
  async holdsSeat(kind: string, code: string, seatId: number): Promise<boolean | null> {
    return (await this.#byKind.get(kind)?.access?.isHeld?.(code, seatId)) ?? null;
  }

  /** `ownPort`: dedicated port of this process; null without one. */
  async join(ownPort: number | null): Promise<void> {
    await Promise.all(this.#all.map((rooms) => rooms.join(ownPort)));
  }

  async handOver(): Promise<void> {
    await Promise.all(this.#all.map((rooms) => rooms.handOver()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((rooms) => rooms.stop()));
  }
}

/** Two kinds with the same name or key prefix would share their rooms. */
function refuseTwice(names: string[]): string[] {
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`two kinds of room have the name "${twice}"`);
  return names;
}
