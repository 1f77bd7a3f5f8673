import { requestText } from "../raw-request.ts";
import { treeMicros } from "../processes.ts";
import type { RoomSpec } from "../rooms/links.ts";
import type { Protocol } from "../rooms/process.ts";
import type { Side, With } from "../rooms/side.ts";
import { startRemote } from "../rpc.ts";
import { startRedis } from "../stores.ts";
import { withNchan } from "./nchan.ts";
import { installPeers } from "./packages.ts";

interface Peer {
  name: string;
  protocol: Protocol;
  program: "raw" | "socketio" | "colyseus";
  /** It gets a Redis of its own, whose processor time counts. */
  hasRedis?: true;
}

const socketio = { protocol: "socketio", program: "socketio" } as const;

/** The raw server as a control: it only delivers, or stores a command before it answers. */
export const raw: Peer = { name: "raw uWebSockets.js", protocol: "http", program: "raw" };
export const floor: Peer = { ...raw, name: "floor", hasRedis: true };

/** Servers of other projects, by their name in `--peers`; none stores a command before it answers. */
const peers: Record<string, Peer> = {
  socketio: { ...socketio, name: "Socket.IO" },
  "socketio-streams": {
    ...{ ...socketio, name: "Socket.IO, 2 processes with Redis streams" },
    hasRedis: true,
  },
  colyseus: { name: "Colyseus", protocol: "colyseus", program: "colyseus" },
};

export const peerNames = [...Object.keys(peers), "nchan"];

/** Starts a peer, installed before its first use; Nchan is a package of the system. */
export function peerNamed<T>(name: string): With<Side, T> {
  const peer = peers[name];
  return async (work) => {
    if (!peer) return withNchan(work);
    await installPeers();
    return withPeer<T>(peer)(work);
  };
}

export const withPeer =
  <T>({ name, protocol, program, hasRedis }: Peer): With<Side, T> =>
  async (work) => {
    const redis = hasRedis ? await startRedis() : null;
    const file = new URL(`./${program}-process.ts`, import.meta.url);
    const remote = await startRemote<{ port: () => number }>(file, {
      args: redis ? [redis.url] : [],
    });
    let numRuns = 0;
    try {
      return await work({
        ...{ name, protocol, port: await remote.call("port") },
        async rooms(count, streams) {
          numRuns += 1;
          return Array.from({ length: count }, (_, n) => roomOf(`room=${numRuns}-${n}`, streams));
        },
        cpu: () => ({
          server: treeMicros(remote.pid),
          ...(redis && { Redis: treeMicros(redis.pid) }),
        }),
      });
    } finally {
      await remote.stop();
      await redis?.stop();
    }
  };

const roomOf = (query: string, streams: number): RoomSpec => ({
  ...{ streams, streamPath: `/events?${query}`, streamHeaders: "" },
  command: requestText("POST", `/command?${query}`, { body: { selected_index: 1 } }),
});
