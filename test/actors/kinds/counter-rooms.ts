import Type from "typebox";
import { createRooms, type RoomsOfKind } from "../../../actors/index.ts";
import { roomKinds } from "../../../server/app/rooms.ts";
import { routes as ownRoutes } from "../../../server/app/routes.ts";
import type { DepsWith } from "../../../server/app/deps.ts";
import { plainMessages, type RoomKind } from "../../../server/features/rooms/domain/room-kind.ts";
import {
  aboutCommand,
  aboutRoom,
  aboutSeat,
  tokenRoute,
} from "../../../server/features/rooms/calls.ts";
import type { RoomDeps } from "../../../server/features/rooms/deps.ts";
import { bodyOf, codeIn, joinRoom, keyOf } from "../../../server/features/rooms/service.ts";
import {
  encodedReply,
  reply,
  routesWith,
  type Route,
} from "../../../server/http/pipeline/route.ts";
import type { WithEnqueue } from "../../../workers/queues.ts";
import { counterActor, counterRules, type Command } from "./counter.ts";
import { counterResults } from "./counter-results.ts";

type Counters = RoomsOfKind<Command>;

interface CounterDeps extends RoomDeps {
  counters: Pick<Counters, "ask">;
}

const View = Type.Object({
  count: Type.Integer(),
  skipped: Type.Integer(),
  status: Type.Enum(["running", "ended", "finished"]),
  seq: Type.Integer(),
});
const CounterBody = Type.Object({ counter: View });

/** Counters as a kind of room: anyone may follow one. */
export const counterRooms: RoomKind<WithEnqueue, Counters> = {
  kind: counterRules.kind,
  open: ({ enqueue }, share) =>
    createRooms(
      counterActor((code, count, origin) => enqueue(counterResults, { code, count }, origin)),
      share,
    ),
  messages: plainMessages(counterRules, View),
};

const defineRoute = routesWith<CounterDeps>();
const base = "/v1/counters";
const names = ["counter", "Counters", "route:not_found"] as const;
const about = {
  ...aboutRoom(...names),
  source: "test",
  rateLimit: { max: 100_000, window: 60 },
} as const;

const command = defineRoute({
  ...about,
  method: "POST",
  path: `${base}/{code}`,
  summary: "Open, read or count",
  auth: "public",
  body: Type.Object({ type: Type.Enum(["open", "read", "count"]), by: Type.Integer() }),
  responses: { 200: CounterBody },
  errors: ["route:not_found", "lobby:not_in_progress"],
  handler: async ({ deps, params, body, request }) => {
    const code = codeIn(params.code, "route:not_found");
    return encodedReply(200, bodyOf(await deps.counters.ask(code, body, keyOf(request))) ?? "{}");
  },
});

const takeSeat = defineRoute({
  ...about,
  method: "POST",
  path: `${base}/{code}/seats/{seatId}`,
  summary: "Take a seat",
  auth: "public",
  setsCookie: "by-page",
  params: Type.Object({ code: Type.String(), seatId: Type.Integer() }),
  responses: { 201: Type.Object({ counter: View, seat_token: Type.String() }) },
  errors: ["route:not_found"],
  handler: async ({ deps, params: { code, seatId } }) => {
    const seat = { kind: "counter", base, code, seatId, playerId: null };
    return joinRoom(deps, seat, await deps.counters.ask(code, { type: "read" }));
  },
});

const readSeat = defineRoute({
  ...aboutSeat(...names),
  source: "test",
  method: "GET",
  path: `${base}/{code}/seat`,
  summary: "Read the number of the seat",
  responses: { 200: Type.Object({ seat_id: Type.Union([Type.Integer(), Type.Null()]) }) },
  errors: [],
  handler: ({ caller }) => reply(200, { seat_id: caller.seatId }),
});

/** As `count` of `command`, for whoever holds a seat. */
const countSeated = defineRoute({
  ...aboutCommand(...names),
  source: "test",
  method: "POST",
  path: `${base}/{code}/count`,
  summary: "Count as the seat",
  responses: { 200: CounterBody },
  errors: ["route:not_found", "lobby:not_in_progress"],
  handler: async ({ deps, caller, params, request }) => {
    const code = codeIn(params.code, "route:not_found");
    const asked = { type: "count", by: caller.seatId ?? 0 } as const;
    return encodedReply(200, bodyOf(await deps.counters.ask(code, asked, keyOf(request))) ?? "{}");
  },
});

const token = tokenRoute<CounterDeps, "seat">(
  {
    ...aboutSeat(...names),
    source: "test",
    path: `${base}/{code}/token`,
    summary: "Get the hub token of the seat",
    errors: [],
  },
  async (_deps, _code, { seatId }) => seatId,
);

const counterRoutes: Route<CounterDeps>[] = [command, takeSeat, readSeat, countSeated, token];

/** The service with a second kind of room: one line in each of its two tables. */
export const kinds = { ...roomKinds, counters: counterRooms };
export const routes: readonly Route<DepsWith<typeof kinds>>[] = [...ownRoutes, ...counterRoutes];
