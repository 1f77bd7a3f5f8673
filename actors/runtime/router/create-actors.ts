import { randomBytes } from "node:crypto";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import type { Clock } from "../../../server/platform/time/clock.ts";
import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Metrics } from "../../../server/platform/metrics/metrics.ts";
import type {
  ActorDefinition,
  Actors,
  AnyActor,
  BaseCommand,
  BaseEvent,
  BaseState,
} from "../definition.ts";
import { createListener } from "./listener.ts";
import type { Connections } from "../storage/connection.ts";
import { connectionOf } from "../storage/cluster-connection.ts";
import { allShards, kindsKey } from "../storage/keys.ts";
import { defaultAskTimings, Router, type ActorTimings } from "./router.ts";
import { defaultTimings } from "../placement/membership.ts";
import { systemTiming } from "../timing.ts";

/** A store that does not answer for so long counts as away. */
const storeWaitMs = 2_500;

/** Of a port, and of a socket file, at which nothing listens. */
const refusals: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT"]);

export interface ActorsDeps {
  redisUrl: string;
  log: Logger;
  clock: Clock;
  /** Those of the kind are counted under its name. */
  metrics: Pick<Metrics, "actors">;
  /** What the topics of all kinds begin with. */
  topicBase: string;
  /** Leaves joining to the caller: a process still busy with its start would hold actors up. */
  joinsLater?: boolean;
  /** Private folder in which the processes of this machine listen for each other; without it they talk over Redis. */
  linkDir?: string | null;
  /** Other than the usual ones; for tests. */
  timings?: Partial<ActorTimings>;
  /** The first actor came into memory, or the last one left it. */
  onOccupied?: ((isOccupied: boolean) => void) | undefined;
}

/** Joins the processes that share the actors of a kind; resolves when this one holds its part of the shards. */
export async function createActors<
  State extends BaseState,
  Command extends BaseCommand,
  Event extends BaseEvent,
  Answer,
  Memo,
>(
  definition: ActorDefinition<State, Command, Event, Answer, Memo>,
  deps: ActorsDeps,
): Promise<Actors<State, Command>> {
  const { joinsLater = false, linkDir = null, timings = {}, topicBase, log, clock } = deps;
  const topic = (code: string) => topicBase + definition.topic(code);
  const router = new Router({
    definition: { ...definition, topic },
    incarnation: newIncarnation(),
    connections: await connect(definition, deps),
    linkDir,
    timing: systemTiming,
    timings: { ...defaultTimings, ...defaultAskTimings, ...timings },
    shards: allShards,
    log,
    clock,
    metrics: deps.metrics.actors(definition.kind),
    onOccupied: deps.onOccupied,
  });
  await router.listen();
  if (!joinsLater) await router.join();
  return typed(router);
}

/** Actors of a definition hold its states and take its commands; the runtime itself looks into neither. */
export const typed = <State extends BaseState, Command extends BaseCommand>(
  actors: Actors<BaseState, BaseCommand>,
) => actors as Actors<State, Command>;

/** Never reused: start time, process and chance. */
function newIncarnation(): string {
  return `w${process.pid}.${Date.now().toString(36)}.${randomBytes(3).toString("hex")}`;
}

async function connect(
  { kind, keyPrefix }: Pick<AnyActor, "kind" | "keyPrefix">,
  { redisUrl, log }: ActorsDeps,
): Promise<Connections> {
  const open = (name: string) =>
    connectRedis(redisUrl, log, `${kind}-${name}`, { commandTimeout: storeWaitMs });
  const commits = open("commit");
  const control = open("control");
  const subscriber = createListener(redisUrl, log, `${kind}-subscriber`);
  const all = [commits, control];
  await Promise.all(all.map((redis) => redisReady(redis)));
  // Who starts Redis again runs no kind of actor, and learns from this which there are (`continueHistory`).
  await control.sadd(kindsKey, keyPrefix);
  return {
    commits: connectionOf(commits),
    control: connectionOf(control),
    subscriber,
    watch(hear, refused) {
      const told = (error: NodeJS.ErrnoException) => {
        if (refusals.has(error.code ?? "")) refused();
      };
      control.on("error", told);
      control.on("node error", told);
      control.on("close", () => hear(false));
      control.on("ready", () => hear(true));
      // A node of a cluster that comes, also one that comes back.
      control.on("+node", () => hear(true));
    },
    close() {
      subscriber.close();
      for (const redis of all) redis.disconnect();
    },
  };
}
