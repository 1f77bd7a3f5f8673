import type { BenchOptions, Scenario, Scenarios } from "../floor-scenario.ts";
import { floor, peerNamed, raw, withPeer } from "../peers/named.ts";
import { findNchan } from "../peers/nchan.ts";
import { note, type Table } from "../report.ts";
import { compareSides, type Compared, type Plan } from "./compare.ts";
import { withServiceSide } from "./service-side.ts";

/** Streams of the service against raw uWebSockets.js that only answers and delivers. */
export const hub: Scenarios = {
  lobbies: fanOut({ about: "lobbies of eight", lobbies: 500, streams: 8, rates: [1000] }),
  topic: fanOut(
    { about: "one lobby with thousands of spectators", lobbies: 1, streams: 4000, rates: [2] },
    1.2,
  ),
};

/** Commands of the service against raw uWebSockets.js with one script of Redis. */
export const lobby: Scenarios = {
  everyday: {
    about: "commands at everyday rates with eight streams a lobby, against the bare floor",
    run(options) {
      const { workers = [1, 2], follow } = options.rooms;
      const sides = workers.flatMap((count): Compared[] => [
        { start: withServiceSide<Table[]>(count), limit: count === 1 ? 2 : 2.6 },
        ...(follow && count > 1
          ? [{ start: withServiceSide<Table[]>(count, true), limit: 2.2 }]
          : []),
      ]);
      const plan: Plan = {
        ...{ about: "everyday", lobbies: 200, streams: 8, rates: [400, 800, 2800] },
        ...{ rounds: 12, seconds: 20, per: "command" },
      };
      return compare([{ start: withPeer<Table[]>(floor) }, ...sides], plan, options);
    },
  },
};

function fanOut(sizes: Omit<Plan, "rounds" | "seconds" | "per">, limit?: number): Scenario {
  return {
    about: sizes.about,
    run(options) {
      const hasNchan = findNchan() !== null;
      if (!hasNchan) note("Nchan is not installed (Debian: nginx-core, libnginx-mod-nchan)");
      const sides: Compared[] = [
        { start: withPeer<Table[]>(raw) },
        ...(hasNchan ? [{ start: peerNamed<Table[]>("nchan") }] : []),
        { start: withServiceSide<Table[]>(1), ...(limit !== undefined && { limit }) },
      ];
      return compare(sides, { ...sizes, rounds: 5, seconds: 5, per: "delivery" }, options);
    },
  };
}

function compare(sides: Compared[], usual: Plan, { isQuick, rooms }: BenchOptions) {
  const { workers: _, follow: __, peers, ...changes } = rooms;
  const quick = isQuick ? { rounds: 1, seconds: 5 } : {};
  const others = peers.map((name): Compared => ({ start: peerNamed(name) }));
  return compareSides([...sides, ...others], { ...usual, ...quick, ...changes });
}
