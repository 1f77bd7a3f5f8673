import { cpuMicros } from "../cpu.ts";
import type { Protocol } from "../open-load/process.ts";
import { installPeers } from "../peers/packages.ts";
import { startRemote } from "../rpc.ts";
import type { Side } from "./everyday-sides.ts";

type PeerCalls = { port: () => number };

/** Servers of other projects, by their name in `--peers`; each stores nothing and runs in one process. */
const peers: Record<string, { name: string; protocol: Protocol; program: URL }> = {
  socketio: {
    name: "Socket.IO",
    protocol: "socketio",
    program: new URL("../peers/socketio-process.ts", import.meta.url),
  },
  colyseus: {
    name: "Colyseus",
    protocol: "colyseus",
    program: new URL("../peers/colyseus-process.ts", import.meta.url),
  },
};

export const peerNames = Object.keys(peers);

/** Installs and starts the named peers, and stops them after `work`. */
export async function withPeers<T>(
  names: readonly string[],
  work: (sides: Side[]) => Promise<T>,
  started: Side[] = [],
): Promise<T> {
  const [name, ...others] = names;
  if (name === undefined) return work(started);
  const peer = peers[name];
  if (!peer) throw new Error(`there is no peer "${name}", only ${peerNames.join(", ")}`);
  await installPeers();
  const remote = await startRemote<PeerCalls>(peer.program);
  try {
    const side: Side = {
      name: peer.name,
      port: await remote.call("port"),
      protocol: peer.protocol,
      rooms: async (count, streams) =>
        Array.from({ length: count }, (_, n) => ({
          streams,
          streamPath: `&room=${n}`,
          streamHeaders: "",
          command: "",
        })),
      cpu: () => ({ server: cpuMicros([remote.pid]) }),
      pids: () => ({ server: [remote.pid] }),
      servedBy: "server",
      redisUrl: null,
    };
    return await withPeers(others, work, [...started, side]);
  } finally {
    await remote.stop();
  }
}
