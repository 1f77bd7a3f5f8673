import Type from "typebox";
import { createRooms, type RoomsOfKind } from "../../../actors/index.ts";
import { roomKinds } from "../../../server/app/rooms.ts";
import { routes as ownRoutes } from "../../../server/app/routes.ts";
import type { DepsWith } from "../../../server/app/deps.ts";
import { roomMessages, type RoomKind } from "../../../server/features/rooms/domain/room-kind.ts";
import { bodyOf, codeIn, keyOf, seatToken } from "../../../server/features/rooms/service.ts";
import {
  encodedReply,
  reply,
  routesWith,
  type Route,
} from "../../../server/http/pipeline/route.ts";
import type { WithTokens } from "../../../server/platform/capabilities.ts";
import type { WithEnqueue } from "../../../workers/queues.ts";
import { counterActor, type Command } from "./counter.ts";
import { counterResults } from "./counter-results.ts";

type Counters = RoomsOfKind<Command>;

interface CounterDeps extends WithTokens {
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
  kind: "counter",
  open: ({ enqueue }, share) =>
    createRooms(
      counterActor((code, count, origin) => enqueue(counterResults, { code, count }, origin)),
      share,
    ),
  messages: roomMessages("counter", {
    "counter.snapshot": CounterBody,
    "counter.counted": CounterBody,
    "counter.skipped": CounterBody,
    "counter.ended": CounterBody,
    "counter.gap": Type.Object({}),
  }),
};

const defineRoute = routesWith<CounterDeps>();
const about = {
  tag: "Counters",
  source: "test",
  room: "counter",
  notFoundCode: "route:not_found",
  params: Type.Object({ code: Type.String() }),
  rateLimit: { max: 100_000, window: 60 },
} as const;

const command = defineRoute({
  ...about,
  method: "POST",
  path: "/v1/counters/{code}",
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
  path: "/v1/counters/{code}/seats/{seatId}",
  summary: "Take a seat",
  auth: "public",
  params: Type.Object({ code: Type.String(), seatId: Type.Integer() }),
  responses: { 200: Type.Object({ token: Type.String() }) },
  errors: [],
  handler: ({ deps, params: { code, seatId } }) =>
    reply(200, { token: seatToken(deps, { kind: "counter", code, seatId, playerId: null }) }),
});

const readSeat = defineRoute({
  ...about,
  method: "GET",
  path: "/v1/counters/{code}/seat",
  summary: "Read the number of the seat",
  auth: "seat",
  responses: { 200: Type.Object({ seat_id: Type.Union([Type.Integer(), Type.Null()]) }) },
  errors: [],
  handler: ({ caller }) => reply(200, { seat_id: caller.seatId }),
});

const counterRoutes: Route<CounterDeps>[] = [command, takeSeat, readSeat];

/** The service with a second kind of room: one line in each of its two tables. */
export const kinds = { ...roomKinds, counters: counterRooms };
export const routes: readonly Route<DepsWith<typeof kinds>>[] = [...ownRoutes, ...counterRoutes];
