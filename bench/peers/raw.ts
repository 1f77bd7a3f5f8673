import { requestText } from "../raw-request.ts";
import { cpuMicros } from "../processes.ts";
import { mapValues } from "../rooms/amounts.ts";
import type { Side } from "../rooms/side.ts";
import { startRemote } from "../rpc.ts";
import { startRedis } from "../stores.ts";
import type { RawCalls } from "./raw-process.ts";

/** The raw server as a side. `body`: of a command; `redis`: stores it before the answer. */
export async function withRaw<T>(
  { name, body, redis }: { name: string; body: unknown; redis?: { url: string; pid: number } },
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const remote = await startRemote<RawCalls>(new URL("./raw-process.ts", import.meta.url), {
    args: redis ? [redis.url] : [],
  });
  const pids = { server: [remote.pid], ...(redis && { Redis: [redis.pid] }) };
  let numRuns = 0;
  try {
    return await work({
      name,
      port: await remote.call("port"),
      protocol: "http",
      async rooms(count, streams) {
        numRuns += 1;
        return Array.from({ length: count }, (_, n) => {
          const room = `room=${numRuns}-${n}`;
          const command = requestText("POST", `/command?${room}`, { body });
          return { streams, streamPath: `/events?${room}`, streamHeaders: "", command };
        });
      },
      cpu: () => mapValues(pids, cpuMicros),
      pids: () => pids,
    });
  } finally {
    await remote.stop();
  }
}

/** The floor of a lobby command, with a Redis of its own. */
export async function withFloor<T>(name: string, work: (side: Side) => Promise<T>): Promise<T> {
  const redis = await startRedis();
  try {
    return await withRaw({ name, body: { selected_index: 1 }, redis }, work);
  } finally {
    await redis.stop();
  }
}
