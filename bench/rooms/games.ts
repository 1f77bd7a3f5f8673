import { createLobby, joinLobby, newPlayer } from "../../test/support/player.ts";
import { requestText } from "../raw-request.ts";

const seatsPerLobby = 4;
/** Maximum number of unfinished lobbies hosted by a guest. */
const lobbiesPerHost = 10;
/** Lobbies created concurrently. */
const lanes = 8;

/** A seat of a lobby; requests of its player go to `url`. */
export interface BenchSeat {
  url: string;
  code: string;
  token: string;
}

const pathOf = ({ code }: BenchSeat, what: string) => `/v1/games/trivia/lobbies/${code}${what}`;
const headersOf = ({ token }: BenchSeat) => ({ "x-lobby-token": token });

/** Does it for each, a few at a time: more at once from one address would be refused. */
export async function inLanes<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += lanes)
    results.push(...(await Promise.all(items.slice(at, at + lanes).map(work))));
  return results;
}

/** Creates waiting lobbies that contain only their host. */
export async function makeLobbies(
  url: string,
  count: number,
  settings: Record<string, unknown>,
): Promise<BenchSeat[]> {
  const hosts = Array.from({ length: Math.ceil(count / lobbiesPerHost) }, (_, n) => n);
  const made = await inLanes(hosts, async (n) => {
    const host = await newPlayer(url, `Host ${n}`);
    const seats: BenchSeat[] = [];
    while (seats.length < Math.min(lobbiesPerHost, count - n * lobbiesPerHost)) {
      const code = await createLobby(host, { category: "science", ...settings });
      seats.push({ url, code, token: host.lobbyToken });
    }
    return seats;
  });
  return made.flat();
}

/** Starts co-op lobbies on their first question, which stays open for a minute; resolves to the seats, hosts first. */
export async function startGames(url: string, count: number): Promise<BenchSeat[]> {
  const settings = { mode: "coop", numQuestions: 1, timer: 60, maxPlayers: seatsPerLobby };
  const hosts = await makeLobbies(url, count, settings);
  const joined = Array.from({ length: seatsPerLobby - 1 }, async (_, n) => {
    const guest = await newPlayer(url, `Bench ${n}`);
    const seats: BenchSeat[] = [];
    for (const { code } of hosts) {
      await joinLobby(guest, code);
      seats.push({ url, code, token: guest.lobbyToken });
    }
    return seats;
  });
  const guests = (await Promise.all(joined)).flat();
  await inLanes(hosts, (seat) => post(seat, "/start"));
  return [...hosts, ...guests];
}

/** Resolves to the headers of the answer. */
export async function post(seat: BenchSeat, what: string): Promise<Headers> {
  const headers = headersOf(seat);
  const answer = await fetch(seat.url + pathOf(seat, what), { method: "POST", headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${what} answered ${answer.status}: ${text.slice(0, 300)}`);
  return answer.headers;
}

/** The port of the process that owns the lobby, which the answers name with `WORKER_PORTS`. */
export async function ownerPort(seat: BenchSeat): Promise<number> {
  const answer = await fetch(seat.url + pathOf(seat, ""), { headers: headersOf(seat) });
  await answer.arrayBuffer();
  const port = Number(answer.headers.get("x-owner-port"));
  if (port > 0) return port;
  throw new Error(`no port of the owner is named: ${answer.status}`);
}

/** A pick of any choice is committed and published each time. */
export const pickRequest = (seat: BenchSeat): string =>
  requestText("POST", pathOf(seat, "/pick"), {
    headers: headersOf(seat),
    body: { selected_index: 1 },
  });

/** Another theme each time, which spectators hear of as well. */
export const themeRequest = (seat: BenchSeat, number: string): string =>
  requestText("PATCH", pathOf(seat, "/settings"), {
    headers: headersOf(seat),
    body: { prompt: `theme ${number}` },
  });
