import { randomBytes } from "node:crypto";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import type { Lobbies } from "../../contract.ts";
import { createListener } from "./listener.ts";
import type { Connections } from "../storage/connection.ts";
import { connectionOf } from "../storage/cluster-connection.ts";
import { allShards } from "../storage/keys.ts";
import { createRouter, defaultAskTimings, type RouterDeps } from "./router.ts";
import { defaultTimings } from "../placement/liveness.ts";
import { systemTiming } from "../timing.ts";

/** A store that does not answer for so long counts as away. */
const storeWaitMs = 2_500;

/** Of a port, and of a socket file, at which nothing listens. */
const refusals: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT"]);

type Given = "log" | "clock" | "metrics" | "context" | "enqueueResult" | "draw" | "seatLimit";

export interface LobbiesDeps extends Pick<RouterDeps, Given> {
  redisUrl: string;
  /** Leaves joining to the caller: a process still busy with its start would hold lobbies up. */
  joinsLater?: boolean;
  /** How long a command waits for an owner of its lobby; for tests. */
  patienceMs?: number;
}

/** Joins the workers that share the lobbies; resolves when this one holds its part of the shards. */
export async function createLobbies(deps: LobbiesDeps): Promise<Lobbies> {
  const { redisUrl: _, joinsLater = false, patienceMs, ...given } = deps;
  const patience = patienceMs === undefined ? {} : { patienceMs };
  const lobbies = await createRouter({
    ...given,
    incarnation: newIncarnation(),
    connections: await connect(deps),
    timing: systemTiming,
    timings: { ...defaultTimings, ...defaultAskTimings, ...patience },
    shards: allShards,
  });
  if (!joinsLater) await lobbies.join();
  return lobbies;
}

/** Never reused: start time, process and chance. */
function newIncarnation(): string {
  return `w${process.pid}.${Date.now().toString(36)}.${randomBytes(3).toString("hex")}`;
}

async function connect({ redisUrl, log }: LobbiesDeps): Promise<Connections> {
  const open = (name: string) =>
    connectRedis(redisUrl, log, `lobbies-${name}`, { commandTimeout: storeWaitMs });
  const commits = open("commit");
  const control = open("control");
  const subscriber = createListener(redisUrl, log);
  const all = [commits, control];
  await Promise.all(all.map((redis) => redisReady(redis)));
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
