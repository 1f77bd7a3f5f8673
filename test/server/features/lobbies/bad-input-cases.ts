import { hostCalls, noSeat, seatCalls, type SeatCall } from "./seats.ts";

/** An invalid request below a lobby, and its response. */
export interface Case {
  what: string;
  method: string;
  /** Below the lobby's address. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Status and code; only a status if nothing is refused and nothing changes. */
  expected: string;
}

const answer = { selected_index: 1, time_taken_ms: 100 };
const pick = { selected_index: 1 };

const caseOf = ([method, path, body]: SeatCall, what: string, expected: string): Case => ({
  ...{ what: `${method} ${path}: ${what}`, method, path, expected },
  ...(body === undefined ? {} : { body }),
});

/** Every endpoint with invalid credentials; `bad` names them. */
export function credentialCases(bad: Record<string, [Record<string, string>, string]>): Case[] {
  return seatCalls.flatMap((call) =>
    Object.entries(bad).map(([what, [headers, expected]]) => ({
      ...caseOf(call, what, expected),
      headers,
    })),
  );
}

/** A caller without a seat in this lobby. */
export function outsiderCases(headers: Record<string, string>): Case[] {
  const refusalOf = (call: SeatCall) => {
    if (hostCalls.includes(call)) return "403 lobby:not_host";
    return call[1] === "/token" ? "403 lobby:not_member" : "404 lobby:player_not_found";
  };
  return seatCalls.map((call) => ({ ...caseOf(call, "a stranger", refusalOf(call)), headers }));
}

/** A player who is not the host. */
export const guestCases = (headers: Record<string, string>): Case[] =>
  hostCalls.map((call) => ({ ...caseOf(call, "not the host", "403 lobby:not_host"), headers }));

export type State = "waiting" | "coop" | "versus" | "finished";

/** The host's refusals in states where a call is not allowed; other calls may succeed. */
const stateRefusals: Record<State, Record<string, string>> = {
  waiting: {
    "POST /answer": "400 lobby:not_in_progress",
    "POST /pick": "400 lobby:not_in_progress",
    "POST /lock": "400 lobby:not_in_progress",
    "POST /next": "400 lobby:not_in_progress",
    "GET /results": "400 lobby:not_finished",
    [`DELETE /players/${noSeat}`]: "404 lobby:player_not_found",
  },
  coop: {
    "POST /answer": "400 lobby:wrong_mode",
    "PATCH /settings": "400 lobby:not_waiting",
    "POST /start": "400 lobby:already_started",
    "POST /next": "400 lobby:too_early",
    "GET /results": "400 lobby:not_finished",
    [`DELETE /players/${noSeat}`]: "404 lobby:player_not_found",
  },
  versus: {
    "POST /pick": "400 lobby:wrong_mode",
    "POST /lock": "400 lobby:wrong_mode",
    "PATCH /settings": "400 lobby:not_waiting",
    "POST /start": "400 lobby:already_started",
    "POST /next": "400 lobby:too_early",
    "GET /results": "400 lobby:not_finished",
    [`DELETE /players/${noSeat}`]: "404 lobby:player_not_found",
  },
  finished: {
    "POST /answer": "400 lobby:not_in_progress",
    "POST /pick": "400 lobby:not_in_progress",
    "POST /lock": "400 lobby:not_in_progress",
    "POST /next": "400 lobby:not_in_progress",
    "PATCH /settings": "400 lobby:not_waiting",
    "POST /start": "400 lobby:already_started",
    [`DELETE /players/${noSeat}`]: "404 lobby:player_not_found",
    "POST /heartbeat": "200",
    "POST /leave": "204",
    "POST /end": "200",
    "POST /token": "204",
  },
};

export function stateCases(state: State, headers: Record<string, string>): Case[] {
  const refusals = stateRefusals[state];
  return seatCalls.flatMap((call) => {
    const expected = refusals[`${call[0]} ${call[1]}`];
    return expected === undefined ? [] : [{ ...caseOf(call, `while ${state}`, expected), headers }];
  });
}

const hostile = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "a\u0000b",
  "x".repeat(257),
  "<script>",
  "${7*7}",
  "=1+1",
  "😀",
];
const wrongIndexes = [-1, 1.5, "0", null, true, [], {}, 2 ** 53, 1e308];

/** Field -> values it refuses in every lobby. */
const wrongFields: Record<string, Record<string, unknown[]>> = {
  "POST /answer": {
    selected_index: [-2, 4, 1.5, "1", null, true, [1], {}, 2 ** 53],
    time_taken_ms: [-1, 600_001, 0.5, "5", null, false, [], {}],
    index: wrongIndexes,
  },
  "POST /pick": { selected_index: [-1, 4, 1.5, "1", null, {}], index: wrongIndexes },
  "POST /lock": { index: wrongIndexes },
  "POST /next": { index: wrongIndexes },
  "PATCH /settings": {
    difficulty: ["trivial", 5, [], {}, ...hostile],
    prompt: [5, [], {}, "\u0000", "\ud800", "x".repeat(257), "<script>", "${7*7}", "=1+1", "😀"],
    selected_categories: ["art", null, [5], [null], [[]], {}, hostile, Array(11).fill("art")],
    timer: [0, 9, 31, "30", 10.5, true, [], {}, -10],
    blend: ["true", 1, null, [], {}],
    review: ["true", 0, null, [], {}],
    num_questions: [0, 101, -1, "5", 1.5, true, [], {}],
    visibility: ["open", null, 5, "PUBLIC", [], {}],
    mode: ["duel", null, 5, "Coop", [], {}],
  },
  "POST /join": {
    name: [5, null, true, [], {}, "", " ", "\t", "a\u0000", "\ud800", "x".repeat(65), "a\nb"],
  },
};
const required: Record<string, Record<string, unknown>> = {
  "POST /answer": answer,
  "POST /pick": pick,
  "POST /join": {},
};

/** Invalid values one by one, and missing ones, next to an undocumented field. */
export function fieldCases(headers: Record<string, string>): Case[] {
  return Object.entries(wrongFields).flatMap(([key, fields]) => {
    const [method = "", path = ""] = key.split(" ");
    const expected = "422 validation:failed";
    const wrong = Object.entries(fields).flatMap(([field, values]) =>
      values.map((value) => ({
        ...{
          what: `${key}: ${field} is ${JSON.stringify(value)}`,
          method,
          path,
          headers,
          expected,
        },
        body: { ...required[key], is_host: true, [field]: value },
      })),
    );
    const missing = Object.keys(required[key] ?? {}).map((field) => ({
      ...{ what: `${key}: without ${field}`, method, path, headers, expected },
      body: { ...required[key], [field]: undefined },
    }));
    return [...wrong, ...missing];
  });
}

const json = { "content-type": "application/json" };
const malformed = "400 request:malformed_json";
const otherType = "415 request:unsupported_media_type";

/** Bodies that are not JSON objects or have another type: what -> body, headers, response. */
const wrongBodies: Record<string, [unknown, Record<string, string>, string]> = {
  "half an object": ["{", json, malformed],
  "an array": ["[]", json, malformed],
  "a text": ['"x"', json, malformed],
  null: ["null", json, malformed],
  "no UTF-8": [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), json, malformed],
  "too deep": [`{"a":${"[".repeat(40)}${"]".repeat(40)}}`, json, malformed],
  "a form": [
    "selected_index=1",
    { "content-type": "application/x-www-form-urlencoded" },
    otherType,
  ],
  "another charset": ["{}", { "content-type": "application/json; charset=latin1" }, otherType],
  compressed: ["{}", { ...json, "content-encoding": "gzip" }, otherType],
  "more than 64 KiB": [`{"a":"${"x".repeat(66_000)}"}`, json, "413 request:too_large"],
};

export function bodyCases(as: Record<string, string>): Case[] {
  return Object.keys(wrongFields).flatMap((key) => {
    const [method = "", path = ""] = key.split(" ");
    return Object.entries(wrongBodies).map(([what, [body, headers, expected]]) => ({
      ...{ what: `${key}: ${what}`, method, path, body, expected },
      headers: { ...as, ...headers },
    }));
  });
}
