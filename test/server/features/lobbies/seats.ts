import assert from "node:assert/strict";
import type { Static } from "typebox";
import Value from "typebox/value";
import { lobbyRoutes } from "../../../../server/features/lobbies/routes.ts";
import type { LobbyWire } from "../../../../server/features/lobbies/schemas.ts";
import type { App } from "../../../support/app.ts";
import { enter, tokenOf } from "../../../support/identity.ts";

export const base = "/v1/games/trivia/lobbies";

export type Wire = Static<typeof LobbyWire>;
type Headers_ = Record<string, string>;

/** The parts of a response that lobby tests read; its schema has already been validated. */
export interface Answer {
  status: number;
  headers: Headers;
  /** Code of the first error. */
  code: string | undefined;
  params: Record<string, unknown>;
  /** `propertyPath` of every violation, sorted. */
  violations: string[];
  body: {
    lobby: Wire;
    lobbies: Wire[];
    player: { id: number; name: string; is_host: boolean };
    player_token: string;
  } & Record<string, unknown>;
}

interface Envelope {
  flash?: {
    errors?: { code: string; params?: Record<string, unknown> }[];
    violations?: { propertyPath: string }[];
  };
}

export async function ask(
  app: App,
  method: string,
  path: string,
  body?: unknown,
  headers: Headers_ = {},
): Promise<Answer> {
  const call = { headers, ...(body === undefined ? {} : { body }) };
  const answer = await app.client.request(method, base + path, call);
  const flash = (answer.json as Envelope | undefined)?.flash;
  return {
    status: answer.status,
    headers: answer.headers,
    code: flash?.errors?.[0]?.code,
    params: flash?.errors?.[0]?.params ?? {},
    violations: (flash?.violations ?? []).map((one) => one.propertyPath).sort(),
    body: answer.body as Answer["body"],
  };
}

/** A player in a lobby: `as` contains the headers of the seat. */
export interface Seated {
  id: number;
  token: string;
  as: Headers_;
  /** Token of the login, if the seat is bound to one. */
  bearer: Headers_;
  accountId: number | null;
}

export interface Table {
  code: string;
  host: Seated;
  guests: Seated[];
}

export const holding = (token: string): Headers_ => ({ "x-lobby-token": token });
export const cookieOf = (token: string): Headers_ => ({ cookie: `svc_lobby=${token}` });

const seated = (answer: Answer, bearer: Headers_, accountId: number | null): Seated => ({
  id: answer.body.player.id,
  token: answer.body.player_token,
  as: holding(answer.body.player_token),
  bearer,
  accountId,
});

/** Access token of a new guest. */
export async function login(app: App): Promise<{ bearer: Headers_; accountId: number }> {
  const session = await enter(app);
  return { bearer: tokenOf(session), accountId: session.player.id };
}

/** A lobby with its host and the requested number of anonymous players. */
export async function openTable(
  app: App,
  fields: Record<string, unknown> = {},
  others = 0,
): Promise<Table> {
  const { bearer, accountId } = await login(app);
  const created = await ask(app, "POST", "", { hostName: "Host", ...fields }, bearer);
  assert.equal(created.status, 201, JSON.stringify(created));
  const { code } = created.body.lobby;
  const guests: Seated[] = [];
  for (let n = 1; n <= others; n++) guests.push(await sit(app, code, `Guest ${n}`));
  return { code, host: seated(created, bearer, accountId), guests };
}

/** Takes a seat; anonymous unless a login is given. */
export async function sit(
  app: App,
  code: string,
  name: string,
  by?: { bearer: Headers_; accountId: number },
): Promise<Seated> {
  const joined = await ask(app, "POST", `/${code}/join`, { name }, by?.bearer);
  assert.equal(joined.status, 201, JSON.stringify(joined));
  return seated(joined, by?.bearer ?? {}, by?.accountId ?? null);
}

/** A running game of two with short draws. */
export async function playing(
  app: App,
  fields: Record<string, unknown> = {},
  others = 1,
): Promise<Table> {
  const table = await openTable(app, { numQuestions: 3, category: "science", ...fields }, others);
  const started = await ask(app, "POST", `/${table.code}/start`, undefined, table.host.as);
  assert.equal(started.status, 200, JSON.stringify(started));
  return table;
}

export async function lobbyOf(app: App, code: string): Promise<Wire> {
  const answer = await ask(app, "GET", `/${code}`);
  assert.equal(answer.status, 200);
  return answer.body.lobby;
}

/** Status and code in one text, as the tables of refusals list them. */
export const outcome = (answer: Answer): string =>
  answer.code === undefined ? String(answer.status) : `${answer.status} ${answer.code}`;

/** Number of occurrences of each outcome. */
export function tally(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[outcome(answer)] = (counts[outcome(answer)] ?? 0) + 1;
  return counts;
}

/** A request to an endpoint; the body has what its schema requires. */
export type SeatCall = readonly [method: string, path: string, body?: object];

/** A seat that no lobby has. */
export const noSeat = "2000000000";
const isOfHost = ({ errors }: (typeof lobbyRoutes)[number]) => errors.includes("lobby:not_host");
const callsWhere = (isWanted: (route: (typeof lobbyRoutes)[number]) => boolean): SeatCall[] =>
  lobbyRoutes
    .filter((route) => route.auth === "seat" && isWanted(route))
    .map(({ method, path, body }) => {
      const below = path.slice(`${base}/{code}`.length).replace("{playerId}", noSeat);
      return body ? [method, below, Value.Create(body) as object] : [method, below];
    });

/** Every endpoint for the host's seat, for any seat, and both, with paths below the lobby. */
export const hostCalls = callsWhere(isOfHost);
export const guestCalls = callsWhere((route) => !isOfHost(route));
export const seatCalls = [...hostCalls, ...guestCalls];
