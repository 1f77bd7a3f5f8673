import { note, verdict } from "../report.ts";
import { startRemote } from "../rpc.ts";
import type { Scenario } from "../floor-scenario.ts";
import { startRedis } from "../stores.ts";
import type { MemoryCalls } from "./lobbies-process.ts";

const players = 8;
const warmLobbies = 1_000;
/** Heap in bytes of 1000; resident memory also depends on what the engine retains. */
const targetKb = 6;

/** Memory of a waiting lobby of eight; garbage is collected before each measurement. */
export const lobbies: Scenario = {
  about: "a hundred thousand idle lobbies",
  async run({ isQuick }) {
    const count = isQuick ? 5_000 : 100_000;
    const redis = await startRedis();
    const remote = await startRemote<MemoryCalls>(
      new URL("./lobbies-process.ts", import.meta.url),
      {
        env: { REDIS_URL: redis.url },
        flags: ["--expose-gc", "--max-old-space-size=4096"],
      },
    );
    try {
      await remote.call("make", { count: warmLobbies, players });
      const before = await remote.call("memory");
      const started = performance.now();
      await remote.call("make", { count, players });
      note(`created in ${((performance.now() - started) / 1000).toFixed(0)} s`);
      const after = await remote.call("memory");
      const actors = after.actors - before.actors;
      const heap = (after.heapUsed - before.heapUsed) / actors / 1000;
      const rss = (after.rss - before.rss) / actors / 1000;
      return [
        {
          title: `lobbies: ${actors} idle of ${players} players in one process`,
          head: ["heap kB each", "RSS kB each", "heap target"],
          rows: [
            [heap.toFixed(2), rss.toFixed(2), verdict(heap, { limit: targetKb, unit: " kB" })],
          ],
        },
      ];
    } finally {
      await remote.stop();
      await redis.stop();
    }
  },
};
