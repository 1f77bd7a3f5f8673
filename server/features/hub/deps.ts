import type {
  WithClock,
  WithConfig,
  WithFaults,
  WithOrigin,
  WithTokens,
} from "../../platform/capabilities.ts";
import type { Hub } from "../../sse/delivery/hub.ts";
import type { TopicNames } from "../../sse/topics/topics.ts";
import type { RoomAccess } from "../rooms/domain/room-kind.ts";

export interface HubRouteDeps extends WithClock, WithConfig, WithFaults, WithOrigin, WithTokens {
  hub: Hub;
  rooms: HubRooms;
}

/** The rooms and lists that clients may follow. */
export interface HubRooms {
  readonly topicNames: TopicNames;
  /** Who may follow the rooms of a kind; null: anyone, without a token. */
  accessTo(kind: string): RoomAccess | null;
  /** Dedicated port of the worker that owns a room; null without one. */
  ownerPort(kind: string, code: string): number | null;
}
