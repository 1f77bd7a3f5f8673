import { cpuMicros, treeMicros, treePids } from "../processes.ts";
import { installPeers } from "./packages.ts";
import type { Protocol } from "../rooms/process.ts";
import type { Side, With } from "../rooms/side.ts";
import { startRemote } from "../rpc.ts";
import { startRedis } from "../stores.ts";

type PeerCalls = { port: () => number };

interface Peer {
  name: string;
  protocol: Protocol;
  program: URL;
  /** It gets a Redis of its own, whose processor time counts. */
  hasRedis?: true;
}

const socketIo = new URL("./socketio-process.ts", import.meta.url);

/** Servers of other projects, by their name in `--peers`; none stores a command before it answers. */
const peers: Record<string, Peer> = {
  socketio: { name: "Socket.IO", protocol: "socketio", program: socketIo },
  "socketio-streams": {
    name: "Socket.IO, 2 processes with Redis streams",
    protocol: "socketio",
    program: socketIo,
    hasRedis: true,
  },
  colyseus: {
    name: "Colyseus",
    protocol: "colyseus",
    program: new URL("./colyseus-process.ts", import.meta.url),
  },
};

export const peerNames = Object.keys(peers);

/** Starts a peer, installed before its first use. */
export const peerNamed =
  <T>(name: string): With<Side, T> =>
  async (work) => {
    const peer = peers[name];
    if (!peer) throw new Error(`there is no peer "${name}", only ${peerNames.join(", ")}`);
    await installPeers();
    return withPeer(peer, work);
  };

async function withPeer<T>(peer: Peer, work: (side: Side) => Promise<T>): Promise<T> {
  const redis = peer.hasRedis ? await startRedis() : null;
  try {
    const args = redis ? [redis.url] : [];
    const remote = await startRemote<PeerCalls>(peer.program, { args });
    try {
      return await work({
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
        cpu: () => ({
          server: treeMicros(remote.pid),
          ...(redis && { Redis: cpuMicros([redis.pid]) }),
        }),
        pids: () => ({ server: treePids(remote.pid), ...(redis && { Redis: [redis.pid] }) }),
      });
    } finally {
      await remote.stop();
    }
  } finally {
    await redis?.stop();
  }
}
