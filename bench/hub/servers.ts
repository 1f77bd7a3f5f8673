import { startHub } from "../peers/hub.ts";
import { startNchan } from "../peers/nchan.ts";
import { topicCode, type Peer } from "../peers/peer.ts";
import { startUws } from "../peers/uws.ts";
import { fileLimit } from "../processes.ts";
import { note } from "../report.ts";
import { startRedis } from "../stores.ts";
import { Audience } from "../streams/audience.ts";

/** Open files that a server needs besides its streams. */
const spareFiles = 500;

/** Throws if one process may not open this many streams. */
export function requireFiles(streams: number): void {
  const limit = fileLimit();
  if (limit < streams + spareFiles)
    throw new Error(
      `${streams} streams need more open files than the ${limit} allowed: see ulimit -Hn`,
    );
}

/** Runs `work` with all installed servers and their clients, then stops everything. */
export async function withServers<T>(
  numTopics: number,
  work: (audiences: Audience[]) => Promise<T>,
  maxStreams = 12_000,
): Promise<T> {
  const topics = Array.from({ length: numTopics }, (_, n) => topicCode(n));
  const redis = await startRedis();
  const stops: (() => Promise<void>)[] = [() => redis.stop()];
  try {
    const peers: Peer[] = [];
    for (const start of [startUws, () => startNchan(maxStreams), () => startHub(redis)]) {
      const peer = await start();
      if (!peer) {
        note(
          "Nchan is not installed (Debian: nginx-core, libnginx-mod-nchan): compared without it",
        );
        continue;
      }
      peers.push(peer);
      stops.unshift(() => peer.stop());
    }
    const audiences: Audience[] = [];
    for (const peer of peers) {
      const audience = await Audience.start(peer, topics);
      audiences.push(audience);
      stops.unshift(() => audience.stop());
    }
    return await work(audiences);
  } finally {
    for (const stop of stops) await stop();
  }
}
