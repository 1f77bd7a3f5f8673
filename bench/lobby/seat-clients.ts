import { newPlayer } from "../../test/support/player.ts";

export type SeatStep = "room" | "join" | "token" | "stream";

export const seatsPerRoom = 8;
/** Maximum unfinished lobbies per host. */
const roomsPerHost = 10;
/** Players who perform a step concurrently. */
const maxLanes = 4;
const lobbies = "/v1/games/trivia/lobbies";

interface TakenSeat {
  code: string;
  lobbyToken: string;
  hubToken: string;
}

interface Answer {
  headers: Headers;
  body: { lobby?: { code: string }; player_token?: string };
}

/** Players who take seats with the requests of the published client, over keep-alive connections. */
export class SeatClients {
  readonly #url: string;
  /** Access tokens of guests: first hosts, then those who join. */
  #hosts: string[] = [];
  #guests: string[] = [];
  #hostSeats: TakenSeat[] = [];
  #seats: TakenSeat[] = [];
  #numKeys = 0;
  #streams = new AbortController();

  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}`;
  }

  /** Creates the guests for this many rooms. */
  async arrive(rooms: number): Promise<void> {
    const arrive = async (name: string) => (await newPlayer(this.#url, name)).accessToken;
    const count = Math.ceil(rooms / roomsPerHost);
    this.#hosts = await Promise.all(numbers(count).map((n) => arrive(`Host ${n}`)));
    this.#guests = await Promise.all(numbers(seatsPerRoom - 1).map((n) => arrive(`Guest ${n}`)));
  }

  /** Performs one step for all rooms or seats of a round; returns their number. */
  async take(step: SeatStep, rooms: number): Promise<number> {
    if (step === "room") return inLanes(numbers(rooms), (n) => this.#makeRoom(n));
    if (step === "token") return inLanes(this.#seats, (seat) => this.#takeToken(seat));
    if (step === "stream") return inLanes(this.#seats, (seat) => this.#openStream(seat));
    const joins = this.#hostSeats.flatMap(({ code }) =>
      this.#guests.map((guest, n) => () => this.#join(code, guest, n)),
    );
    return inLanes(joins, (join) => join());
  }

  /** Closes the streams; the hosts end the rooms. */
  async leave(): Promise<void> {
    this.#streams.abort();
    this.#streams = new AbortController();
    await inLanes(this.#hostSeats, (seat) =>
      this.#call(`${lobbies}/${seat.code}/leave`, { "x-lobby-token": seat.lobbyToken }),
    );
    this.#hostSeats = [];
    this.#seats = [];
  }

  async #makeRoom(n: number): Promise<void> {
    const headers = this.#keyed(this.#hosts[Math.floor(n / roomsPerHost)]);
    const body = { hostName: `Host ${n}`, category: "science" };
    const { body: made } = await this.#call(lobbies, headers, body);
    this.#hostSeats.push(this.#seated(made.lobby?.code ?? "", made));
  }

  async #join(code: string, guest: string, n: number): Promise<void> {
    const body = { name: `Guest ${n}` };
    const joined = await this.#call(`${lobbies}/${code}/join`, this.#keyed(guest), body);
    this.#seated(code, joined.body);
  }

  #seated(code: string, { player_token: lobbyToken = "" }: Answer["body"]): TakenSeat {
    const seat = { code, lobbyToken, hubToken: "" };
    this.#seats.push(seat);
    return seat;
  }

  async #takeToken(seat: TakenSeat): Promise<void> {
    const path = `${lobbies}/${seat.code}/token`;
    const { headers } = await this.#call(path, { "x-lobby-token": seat.lobbyToken });
    seat.hubToken = headers.get("x-hub-token") ?? "";
  }

  /** Resolves with the first event, the snapshot; the stream stays open. */
  async #openStream({ code, hubToken }: TakenSeat): Promise<void> {
    const response = await fetch(`${this.#url}/v1/hub?topic=/games/trivia/lobby/${code}`, {
      headers: { authorization: `Bearer ${hubToken}` },
      signal: this.#streams.signal,
    });
    if (!response.body) throw new Error(`stream: ${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes("event: lobby.snapshot\n");) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`stream: ${response.status}, ended before its snapshot`);
      text += value;
    }
    void drain(reader);
  }

  #keyed(accessToken = ""): Record<string, string> {
    this.#numKeys += 1;
    const key = `seats-${process.pid}-${this.#numKeys}`;
    return { authorization: `Bearer ${accessToken}`, "idempotency-key": key };
  }

  async #call(path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
    const isJson: Record<string, string> = body ? { "content-type": "application/json" } : {};
    const response = await fetch(this.#url + path, {
      method: "POST",
      headers: { ...isJson, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    const answer = (text === "" ? {} : JSON.parse(text)) as { body?: Answer["body"] };
    return { headers: response.headers, body: answer.body ?? {} };
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Runs the work for all items, a few at a time; returns their number. */
async function inLanes<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<number> {
  let next = 0;
  const lane = async () => {
    for (let one = all[next++]; one !== undefined; one = all[next++]) await work(one);
  };
  await Promise.all(numbers(maxLanes).map(lane));
  return all.length;
}

/** Reads until the stream is closed. */
async function drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The reader closed it.
  }
}
