import { totalMicros, treeByKind } from "../processes.ts";
import { withService } from "../service.ts";
import {
  inLanes,
  makeLobbies,
  ownerPort,
  pickRequest,
  post,
  startGames,
  themeRequest,
  type BenchSeat,
} from "./games.ts";
import { commandNumber } from "./http-link.ts";
import type { RoomSpec } from "./links.ts";
import type { With, Side } from "./side.ts";

/** More have no seat (HUB-07). */
const maxStreamsPerSeat = 8;

/**
 * The complete service. The streams of a room belong to a player of a game, whose picks are the commands; more than a seat
 * may have are spectators of a waiting lobby with changing settings. `isFollowed`: commands and streams of a room go to
 * the worker that owns it.
 */
export const withServiceSide =
  <T>(workers: number, isFollowed = false): With<Side, T> =>
  (work) =>
    withService(
      workers,
      ({ url, pid }) => {
        let hosts: BenchSeat[] = [];
        return work({
          name: nameOf(workers, isFollowed),
          port: Number(new URL(url).port),
          protocol: "http",
          cpu: () =>
            Object.fromEntries(
              Object.entries(treeByKind(pid)).map(([kind, pids]) => [kind, totalMicros(pids)]),
            ),
          async rooms(count, streams) {
            // Otherwise all games would end a minute after their start, in the middle of a later run.
            await inLanes(hosts, (seat) => post(seat, "/leave"));
            const isGame = streams <= maxStreamsPerSeat;
            hosts = isGame
              ? (await startGames(url, count)).slice(0, count)
              : await makeLobbies(url, count, { visibility: "public" });
            return inLanes(hosts, async (seat) => ({
              ...(await (isGame ? gameOf(seat, streams) : crowdOf(seat, streams))),
              ...(isFollowed && { port: await ownerPort(seat) }),
            }));
          },
        });
      },
      isFollowed ? { WORKER_PORTS: "auto" } : {},
    );

export const nameOf = (workers: number, isFollowed: boolean): string =>
  `emberline, ${workers} HTTP worker${workers > 1 ? "s" : ""}${isFollowed ? ", clients follow the owner" : ""}`;

const gameOf = (seat: BenchSeat, streams: number) =>
  roomOf(seat, streams, "/token", pickRequest(seat));

const crowdOf = (seat: BenchSeat, streams: number) =>
  roomOf(seat, streams, "/spectate", themeRequest(seat, commandNumber));

/** `rights`: where the token of the streams comes from. */
async function roomOf(
  seat: BenchSeat,
  streams: number,
  rights: string,
  command: string,
): Promise<RoomSpec> {
  const token = (await post(seat, rights)).get("x-hub-token") ?? "";
  const streamPath = `/v1/hub?topic=/games/trivia/lobby/${seat.code}`;
  return { streams, streamPath, streamHeaders: `Authorization: Bearer ${token}\r\n`, command };
}
