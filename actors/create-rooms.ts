import { randomBytes } from "node:crypto";
import { roomTopic } from "../server/platform/room-names.ts";
import {
  healthCheckedOptions,
  startHealthCheck,
} from "../server/platform/redis/connection-health.ts";
import { connectRedis, redisReady, silenceMs } from "../server/platform/redis/redis.ts";
import type { Clock } from "../server/platform/time/clock.ts";
import type { Logger } from "../server/platform/log/logger.ts";
import type { Metrics } from "../server/platform/metrics/metrics.ts";
import type { RoomsOfKind } from "./contract.ts";
import type { AnyKind, RoomKind } from "./kind.ts";
import type { Connections } from "./log/connection.ts";
import { connectionOf } from "./log/cluster-connection.ts";
import { allShards, kindsKey } from "./log/keys.ts";
import type { BaseCommand, BaseEvent, BaseState } from "./rules.ts";
import { SharedRooms, type RoomObservers } from "./shared-rooms.ts";
import { defaultTimings, systemTiming, type RoomTimings } from "./timing.ts";
import { createListener } from "./wire/listener.ts";

/** Timeout after which Redis counts as unreachable. */
const storeWaitMs = 2_500;

/** Errors of a port, and of a socket file, without a listener. */
const refusals: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT"]);

export interface RoomsDeps extends RoomObservers {
  redisUrl: string;
  log: Logger;
  clock: Clock;
  /** Those of the kind are counted under its name. */
  metrics: Pick<Metrics, "rooms">;
  /** What the topics of lobbies begin with. */
  topicBase: string;
  /** The caller joins later: a process busy with its start would delay the rooms. */
  joinsLater?: boolean;
  /** Private folder with the sockets of this machine's processes; without it they communicate over Redis. */
  linkDir?: string | null;
  /** Overrides of the default timings, for tests. */
  timings?: Partial<RoomTimings>;
  /** Name of this process for operators, without spaces; default: its node id. */
  processName?: string | undefined;
}

/** Joins the processes that share the rooms of a kind; resolves when this one owns its share of the shards. */
export async function createRooms<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer,
  Memo,
>(
  kind: RoomKind<State, Command, Event, Answer, Memo>,
  deps: RoomsDeps,
): Promise<RoomsOfKind<Command>> {
  const { joinsLater = false, linkDir = null, timings = {}, topicBase } = deps;
  const topic = (code: string) => roomTopic(topicBase, kind.kind, code);
  const rooms = new SharedRooms({
    ...deps,
    kind: erased({ ...kind, topic }),
    nodeId: newNodeId(),
    connections: await connect(kind, deps),
    linkDir,
    timing: systemTiming,
    timings: { ...defaultTimings, ...timings },
    shards: allShards,
    metrics: deps.metrics.rooms(kind.kind),
  });
  await rooms.listen();
  if (!joinsLater) await rooms.join();
  return typed(rooms);
}

/** The runtime itself accesses neither states nor commands, which makes both casts safe. */
export const erased = <
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer,
  Memo,
>(
  kind: RoomKind<State, Command, Event, Answer, Memo>,
) => kind as unknown as AnyKind;
export const typed = <Command extends BaseCommand>(rooms: RoomsOfKind<BaseCommand>) =>
  rooms as RoomsOfKind<Command>;

/** Never reused: start time, pid and random bytes. */
function newNodeId(): string {
  return `w${process.pid}.${Date.now().toString(36)}.${randomBytes(3).toString("hex")}`;
}

async function connect(
  { kind, keyPrefix }: Pick<AnyKind, "kind" | "keyPrefix">,
  { redisUrl, log }: RoomsDeps,
): Promise<Connections> {
  const open = (name: string, socketTimeout: number) =>
    connectRedis(redisUrl, log, `${kind}-${name}`, { commandTimeout: storeWaitMs, socketTimeout });
  const commits = open("commit", healthCheckedOptions().socketTimeout);
  // Nothing may be committed for long; heartbeats show that the other one is open.
  const check = startHealthCheck(() => [commits]);
  const control = open("control", silenceMs);
  const subscriber = createListener(redisUrl, log, `${kind}-subscriber`);
  const all = [commits, control];
  await Promise.all(all.map((redis) => redisReady(redis)));
  // Who starts Redis again runs no kind of room, and learns from this which there are (`continueHistory`).
  await control.sadd(kindsKey, keyPrefix);
  return {
    commits: connectionOf(commits),
    control: connectionOf(control),
    subscriber,
    watch(onChange, refused) {
      const told = (error: NodeJS.ErrnoException) => {
        if (refusals.has(error.code ?? "")) refused();
      };
      control.on("error", told);
      control.on("node error", told);
      control.on("close", () => onChange(false));
      control.on("ready", () => onChange(true));
      // A node that joins the cluster or returns.
      control.on("+node", () => onChange(true));
    },
    close() {
      check.stop();
      subscriber.close();
      for (const redis of all) redis.disconnect();
    },
  };
}
