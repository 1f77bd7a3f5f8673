import type { AnyRoute } from "../../server/http/pipeline/route.ts";
import { fc } from "./seed.ts";

/** A request in wire form. */
export interface FuzzRequest {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: Uint8Array;
  /** `short` declares more bytes than it sends, so its connection is closed. */
  framing: "length" | "chunked" | "none" | "short";
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"];
const hostileTexts = [
  "",
  "0",
  "-1",
  "1e9",
  "99999999999999999999",
  "null",
  "true",
  "@me",
  "..",
  "%00",
  "%2F",
  "%zz",
  "%",
  "%ff",
  "%ED%A0%80",
  "a%20b",
  "__proto__",
  "constructor",
  "ABCDEF",
  "'; drop table players;--",
  "%E2%80%8B",
  "NaN",
];
const hexEscape = (text: string) => encodeURIComponent(text.toWellFormed());

const segment = fc.oneof(
  fc
    .constantFrom(...hostileTexts)
    .map((text) => text.replaceAll(" ", "%20").replaceAll("'", "%27")),
  fc.nat({ max: 1000 }).map(String),
  fc.string({ unit: "binary", maxLength: 12 }).map(hexEscape),
);

const fieldValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -0,
    1.5,
    1e308,
    -1,
    2 ** 53,
    2 ** 31,
    "",
    "\0",
    "\ud800",
    [],
    {},
    [null],
    "a".repeat(5000),
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** An object with the field names of a route, so that values get past "is required". */
function bodyOf(route: AnyRoute | null): fc.Arbitrary<string> {
  const names = Object.keys((route?.body?.properties as object | undefined) ?? {});
  const known = fc.record(Object.fromEntries(names.map((name) => [name, fieldValue])), {
    requiredKeys: [],
  });
  const extra = fc.dictionary(
    fc.constantFrom("__proto__", "constructor", "toString", "zzz", "\0", "\ud800"),
    fieldValue,
    { maxKeys: 2 },
  );
  return fc.tuple(known, extra).map(([one, two]) => {
    const parts = [...Object.entries(one), ...Object.entries(two)];
    return `{${parts.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
  });
}

const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .constantFrom(
      "{",
      '{"a":',
      "[]",
      "null",
      '"x"',
      "{}{}",
      "\ufeff{}",
      '{"a":1e999}',
      '{"a":"\\ud800"}',
      "{'a':1}",
      "NaN",
      "[".repeat(5000),
      `${'{"a":'.repeat(40)}1${"}".repeat(40)}`,
      `{"a":"${"x".repeat(70_000)}"}`,
      `{"a":[${"1,".repeat(20_000)}1]}`,
    )
    .map((text) => Buffer.from(text)),
);

function target(route: AnyRoute | null): fc.Arbitrary<string> {
  const path =
    route === null
      ? fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`)
      : fill(route.path);
  const names = Object.keys((route?.query?.properties as object | undefined) ?? {});
  const pair = fc.tuple(
    names.length > 0 ? fc.oneof(fc.constantFrom(...names), segment) : segment,
    segment,
  );
  const query = fc
    .array(pair, { maxLength: 4 })
    .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&"));
  const tail = fc.constantFrom("", "", "", "/", "//", "?", "?limit", `?${"x".repeat(4000)}`);
  return fc
    .tuple(path, query, tail)
    .map(([base, text, end]) => base + (text === "" ? end : `?${text}`));
}

function fill(pattern: string): fc.Arbitrary<string> {
  const parts = pattern
    .split("/")
    .map((part) => (part.startsWith("{") ? segment : fc.constant(part)));
  return fc.tuple(...parts).map((filled) => filled.join("/"));
}

const headerText = fc.oneof(
  fc.string({ unit: "grapheme-ascii", maxLength: 40 }),
  fc.constantFrom("", "null", "x".repeat(3000), "\u00e9\u00ff", "a\tb", "*", '""', ",,,"),
);
const headerNames = [
  "Origin",
  "X-Request-Id",
  "Authorization",
  "X-Lobby-Token",
  "X-Room-Token",
  "Cookie",
  "If-None-Match",
  "Idempotency-Key",
  "X-Realm",
  "Content-Encoding",
  "X-Forwarded-For",
  "X-Forwarded-Proto",
  "Sec-Fetch-Site",
  "Accept-Language",
  "Expect",
  "__proto__",
];
const contentTypes = [
  "application/json",
  "application/json; charset=utf-8",
  "application/vnd.api+json",
  "application/json; charset=latin1",
  "text/plain",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "",
  ";;;",
];

/** Requests of every kind, most of them similar enough to a route to reach its handler. */
export function requestArbitrary(
  routes: readonly AnyRoute[],
  credentials: Record<string, string>[],
): fc.Arbitrary<FuzzRequest> {
  const route = fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 9, arbitrary: fc.constantFrom(...routes) },
  );
  return route.chain((one) => {
    const known =
      one === null
        ? fc.constantFrom(...methods)
        : fc.oneof(
            { weight: 6, arbitrary: fc.constant(one.method as string) },
            { weight: 1, arbitrary: fc.constantFrom(...methods) },
          );
    const json = bodyOf(one).map((text) => Buffer.from(text));
    const extra = fc.array(fc.tuple(fc.constantFrom(...headerNames), headerText), { maxLength: 3 });
    const identity =
      credentials.length === 0
        ? fc.constant<Record<string, string>>({})
        : fc.constantFrom<Record<string, string>>({}, ...credentials);
    const type = fc.oneof(
      { weight: 5, arbitrary: fc.constant("application/json") },
      { weight: 1, arbitrary: fc.constantFrom(...contentTypes) },
    );
    return fc.record({
      method: known,
      target: target(one),
      headers: fc
        .tuple(extra, identity, type)
        .map(([list, who, kind]): [string, string][] => [
          ...list,
          ...Object.entries(who),
          ["Content-Type", kind],
        ]),
      body: fc.oneof(
        { weight: 5, arbitrary: json },
        { weight: 1, arbitrary: garbage },
        { weight: 1, arbitrary: fc.constant(new Uint8Array()) },
      ),
      framing: fc.oneof(
        { weight: 60, arbitrary: fc.constant<FuzzRequest["framing"]>("length") },
        { weight: 1, arbitrary: fc.constant<FuzzRequest["framing"]>("short") },
        { weight: 9, arbitrary: fc.constantFrom<FuzzRequest["framing"]>("chunked", "none") },
      ),
    });
  });
}

/** The bytes of the request; line breaks inside header values are covered by other tests. */
export function toBytes(request: FuzzRequest): Uint8Array {
  const { body, framing } = request;
  const isRead = request.method === "GET" || request.method === "HEAD";
  const isBodiless = framing === "none" || (framing === "length" && isRead && body.length === 0);
  const lines = [
    `${request.method} ${request.target} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Connection: close",
  ];
  for (const [name, value] of request.headers)
    lines.push(`${name}: ${value.replaceAll(/[\r\n\0]/g, "")}`);
  if (framing === "chunked") lines.push("Transfer-Encoding: chunked");
  else if (!isBodiless)
    lines.push(`Content-Length: ${framing === "short" ? body.length + 10 : body.length}`);
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (isBodiless) return head;
  return Buffer.concat([head, framing === "chunked" ? chunked(body) : Buffer.from(body)]);
}

function chunked(body: Uint8Array): Uint8Array {
  const last = Buffer.from("0\r\n\r\n");
  if (body.length === 0) return last;
  return Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from("\r\n"),
    last,
  ]);
}
