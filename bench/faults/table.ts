import { setTimeout as wait } from "node:timers/promises";
import { silenceMs } from "../../server/web/client/connection.ts";
import { Address } from "./address.ts";
import { insist, type Answer } from "./caller.ts";
import { listen, type Listener } from "./listener.ts";

export interface Guest {
  accountId: number;
  token: string;
}

/** One choice that the service acknowledged. */
export interface Acknowledged {
  seatId: number;
  index: number;
  selected: number;
  /** Versus only: the points of this answer and the score after it. */
  points: number | null;
  score: number | null;
}

/** All acknowledged choices and received messages of one lobby. */
export interface Played {
  code: string;
  mode: "versus" | "coop";
  questions: number;
  choices: Acknowledged[];
  /** Acknowledged commands, including choices. */
  acknowledged: number;
  seats: { seatId: number; listener: Listener }[];
  /** Number of requests and streams sent directly to the owner. */
  direct: number;
  /** The lobby as read at the end. */
  final: FinalLobby;
  /** Responses that a careful client should never get. */
  surprises: string[];
}

export interface FinalLobby {
  status: string;
  current_index: number;
  seq: number;
  players: { id: number; score: number }[];
}

interface Seat {
  seatId: number;
  bearer: Record<string, string>;
  listener: Listener;
}

export interface TableOptions {
  url: string;
  /** Its clients use the owner's port. */
  followsOwner: boolean;
  guests: Guest[];
  mode: "versus" | "coop";
  questions: number;
  random: () => number;
  /** Maximum thinking time of a player. */
  thinkMs: number;
  /** Its clients keep their streams; otherwise they cut them every now and then. */
  isSteady?: boolean;
  /** Called as soon as the code is known. */
  onCode: (code: string) => void;
}

const base = "/v1/games/trivia/lobbies";
/** A stream of a host without its network is silent until its client notices. */
const endWaitMs = silenceMs + 15_000;

/** Plays one lobby to its end, through all faults of the service. */
export async function playTable(options: TableOptions): Promise<Played> {
  const { mode, questions, random } = options;
  const address = new Address(options.url, options.followsOwner);
  const surprises: string[] = [];
  const expect = (answer: Answer, status: number, what: string): Answer => {
    if (answer.status !== status) surprises.push(`${what}: ${answer.status} ${answer.code}`);
    return answer;
  };
  const { code, seats } = await takeSeats(address, options);
  const [host] = seats;
  if (!host) throw new Error("a table needs players");
  const send = (seat: Seat, action: string, body: unknown) =>
    insist(address, post(`${base}/${code}/${action}`, seat.bearer, body));

  // A stream opened while a process is down may begin after the start of the game that it should receive.
  const listening = Promise.all(seats.map(({ listener }) => listener.started));
  await Promise.race([listening, wait(endWaitMs, undefined, { ref: false })]);
  let acknowledged = seats.length;
  const choices: Acknowledged[] = [];
  expect(await send(host, "start", undefined), 200, "start");
  acknowledged += 1;
  for (let index = 0; index < questions; index++) {
    const made = seats.map(async (seat) => {
      await wait(random() * options.thinkMs);
      const selected = Math.floor(random() * 4);
      const body = { selected_index: selected, index, time_taken_ms: 500 };
      const answer =
        mode === "versus"
          ? expect(await send(seat, "answer", body), 200, `answer ${index}`)
          : expect(
              await send(seat, "pick", { selected_index: selected, index }),
              204,
              `pick ${index}`,
            );
      acknowledged += 1;
      choices.push({
        seatId: seat.seatId,
        index,
        selected,
        points: mode === "versus" ? Number(answer.body["points_earned"]) : null,
        score: mode === "versus" ? Number(answer.body["score"]) : null,
      });
    });
    await Promise.all(made);
    if (mode === "coop") {
      expect(await send(host, "lock", { index }), 200, `lock ${index}`);
      acknowledged += 1;
    }
    expect(await send(host, "next", { index }), 200, `next ${index}`);
    acknowledged += 1;
  }
  const path = `${base}/${code}`;
  const read = await insist(address, { method: "GET", path, headers: host.bearer });
  const final = expect(read, 200, "read").body["lobby"] as FinalLobby;
  await Promise.race([
    Promise.all(seats.map(({ listener }) => listener.ended)),
    wait(endWaitMs, undefined, { ref: false }),
  ]);
  for (const { listener } of seats) listener.close();
  const direct = address.numDirect;
  return { code, mode, questions, choices, acknowledged, seats, direct, final, surprises };
}

const guestsAtOnce = 8;

/** Guests with an account each, a few at a time. */
export async function makeGuests(url: string, count: number): Promise<Guest[]> {
  const guests: Guest[] = [];
  const make = async () => {
    while (guests.length < count) {
      const call = { method: "POST", path: "/v1/gateway/guest", body: {} } as const;
      const { body } = await insist(url, call);
      const { id } = body["player"] as { id: number };
      guests.push({ accountId: id, token: String(body["access_token"]) });
    }
  };
  await Promise.all(Array.from({ length: guestsAtOnce }, make));
  return guests.slice(0, count);
}

async function takeSeats(
  address: Address,
  { guests, mode, questions, random, isSteady, onCode }: TableOptions,
): Promise<{ code: string; seats: Seat[] }> {
  let code = "";
  const seats: Seat[] = [];
  for (const [i, guest] of guests.entries()) {
    const name = `Player ${i}`;
    const bearer = { authorization: `Bearer ${guest.token}` };
    const settings = { mode, numQuestions: questions, timer: 60, category: "random" };
    const taken =
      code === ""
        ? await insist(address, post(base, bearer, { hostName: name, ...settings }))
        : await join(address, `${base}/${code}`, bearer, name);
    if (taken.status >= 300)
      throw new Error(`no seat in ${code || "a new lobby"}: ${taken.status} ${taken.code}`);
    if (code === "") onCode((code = (taken.body["lobby"] as { code: string }).code));
    const seatId = (taken.body["player"] as { id: number }).id;
    const hub = await insist(address, post(`${base}/${code}/token`, bearer));
    const topic = `/games/trivia/lobby/${code}`;
    const listener = listen(address, topic, String(hub.headers["x-hub-token"]), random, isSteady);
    seats.push({ seatId, bearer, listener });
  }
  return { code, seats };
}

/**
 * A join whose response was lost has created its seat: the name is taken, and the account finds it
 * (LOB-05).
 */
async function join(
  address: Address,
  path: string,
  bearer: Record<string, string>,
  name: string,
): Promise<Answer> {
  const joined = await insist(address, post(`${path}/join`, bearer, { name }));
  if (joined.code !== "lobby:name_taken") return joined;
  return insist(address, { method: "GET", path, headers: bearer });
}

function post(path: string, headers: Record<string, string>, body?: unknown) {
  return { method: "POST" as const, path, headers, ...(body === undefined ? {} : { body }) };
}
