import type { Service } from "../../test/support/process.ts";
import { totalMicros, treeByKind } from "../processes.ts";
import { mapValues } from "../rooms/amounts.ts";
import type { Side } from "../rooms/side.ts";
import { withService } from "../service.ts";
import { pickRequest, startGames, type BenchSeat } from "./field.ts";

export interface ServiceSide {
  name: string;
  /** Number of HTTP workers. */
  workers: number;
  /** Folder of another checkout. */
  root?: string;
  /** Commands and streams of a lobby are sent to the port of the worker that owns it. */
  isFollowed?: boolean;
  /** Most processor time of a command, as a multiple of the floor's. */
  limit?: number;
}

/** The complete service, from this checkout or another one. */
export function withServiceSide<T>(
  { name, workers, root, isFollowed = false }: ServiceSide,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const settings: Record<string, string> = isFollowed ? { WORKER_PORTS: "auto" } : {};
  const measured = async (service: Service) => work(sideOf(name, service, isFollowed));
  return withService(workers, measured, settings, root);
}

function sideOf(name: string, service: Service, isFollowed: boolean): Side {
  let hosts: BenchSeat[] = [];
  return {
    name,
    port: Number(new URL(service.url).port),
    protocol: "http",
    cpu: () => mapValues(treeByKind(service.pid), totalMicros),
    pids: () => treeByKind(service.pid),
    async rooms(count, streams) {
      // Otherwise all games would end a minute after their start, in the middle of a later run.
      await Promise.all(hosts.map((seat) => leave(service, seat)));
      const seats = (await startGames(service, count)).slice(0, count);
      hosts = seats;
      return Promise.all(
        seats.map(async (seat) => ({
          streams,
          streamPath: `/v1/hub?topic=/games/trivia/lobby/${seat.code}`,
          streamHeaders: `Authorization: Bearer ${await hubToken(service, seat)}\r\n`,
          command: pickRequest(seat),
          ...(isFollowed && { port: await ownerPort(service, seat) }),
        })),
      );
    },
  };
}

/** The owner's port from the responses about a lobby, as a client gets it. */
async function ownerPort(service: Service, { code, token }: BenchSeat): Promise<number> {
  const url = `${service.url}/v1/games/trivia/lobbies/${code}`;
  const answer = await fetch(url, { headers: { "x-lobby-token": token } });
  await answer.arrayBuffer();
  const port = Number(answer.headers.get("x-owner-port"));
  if (port > 0) return port;
  throw new Error(`no port of the owner is named: ${answer.status}`);
}

/** A game ends when its host leaves. */
const leave = (service: Service, seat: BenchSeat) => post(service, seat, "leave");

const hubToken = async (service: Service, seat: BenchSeat): Promise<string> =>
  (await post(service, seat, "token")).get("x-hub-token") ?? "";

async function post(service: Service, { code, token }: BenchSeat, what: string): Promise<Headers> {
  const url = `${service.url}/v1/games/trivia/lobbies/${code}/${what}`;
  const answer = await fetch(url, { method: "POST", headers: { "x-lobby-token": token } });
  await answer.arrayBuffer();
  return answer.headers;
}
