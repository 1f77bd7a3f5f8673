import type { RunOptions, RunResult } from "../open-load/generator.ts";
import type { OpenLoadCalls } from "../open-load/process.ts";
import { startRemote } from "../rpc.ts";
import type { EverydaySizes } from "../floor-scenario.ts";
import type { Side } from "./everyday-sides.ts";

/** Seconds of load before each measured run. */
export const warmUpSeconds = 3;

export type Run = (options: RunOptions) => Promise<RunResult>;

/** Opens a load generator with all streams of a side. */
export async function withGenerator<T>(
  side: Side,
  { lobbies, streams }: Pick<EverydaySizes, "lobbies" | "streams">,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const generator = await startRemote<OpenLoadCalls>(
    new URL("../open-load/process.ts", import.meta.url),
  );
  try {
    const rooms = await side.rooms(lobbies, streams);
    await generator.call("open", { port: side.port, protocol: side.protocol, rooms });
    return await work((options) => generator.call("run", options));
  } finally {
    await generator.stop();
  }
}
