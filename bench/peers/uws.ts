import { startRemote } from "../rpc.ts";
import type { Peer } from "./peer.ts";
import type { UwsCalls } from "./uws-process.ts";

export async function startUws(): Promise<Peer> {
  const remote = await startRemote<UwsCalls>(new URL("./uws-process.ts", import.meta.url));
  const port = await remote.call("port");
  return {
    name: "raw uWebSockets.js",
    port,
    target: { kind: "http", port },
    pids: [remote.pid],
    storePids: [],
    readyText: null,
    stream: (topic) => ({ topic, path: `/sub?topic=${topic}`, headers: "" }),
    stop: () => remote.stop(),
  };
}
