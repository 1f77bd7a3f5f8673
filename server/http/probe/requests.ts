/**
 * Expected outcome of a raw request:
 * - `served`: it is answered, and so is another one on the same connection;
 * - `last`: it is answered, and the server closes the connection;
 * - `cut`: it gets one answer at most, the server closes, and nothing that follows is served;
 * - `refused`: it is not served, nor is anything that follows; the server closes or stays silent.
 */
export type Outcome = "served" | "last" | "cut" | "refused";

export interface RawRequest {
  name: string;
  /** Sent one after another, each in a packet of its own. */
  pieces: readonly string[];
  outcome: Outcome;
  /** Answers expected of `served`, before the other request is sent; 1 when absent. */
  answers?: number;
}

/** No route has this path, so the response comes at once, and a vulnerable server would parse on. */
const target = "/v1/probe";
/** No response may mention it. */
export const smuggledTarget = "/v1/probe-smuggled";

/** The bytes for a service of this host name. */
export function fill(text: string, host: string): string {
  const length = smuggled.replaceAll("HOST", host).length;
  return text.replaceAll("HOST", host).replaceAll("LENGTH", String(length));
}

const lines = (...all: string[]) => all.map((line) => `${line}\r\n`).join("");
const headers = (...more: string[]) => lines("Host: HOST", ...more);
const get = (...more: string[]) => `GET ${target} HTTP/1.1\r\n${headers(...more)}\r\n`;
const post = (...more: string[]) => `POST ${target} HTTP/1.1\r\n${headers(...more)}\r\n`;
const first = (line: string) => `${line}\r\n${headers()}\r\n`;

/** A second, ordinary request. */
export const plain = get();
const smuggled = `GET ${smuggledTarget} HTTP/1.1\r\n${headers()}\r\n`;
const hidden = "Content-Length: LENGTH";
const asTrailer = `X:GET ${smuggledTarget} HTTP/1.1\r\n${headers()}\r\n`;

const json = "Content-Type: application/json";
const chunked = post(json, "Transfer-Encoding: chunked");
const inPieces = (text: string, ...cuts: number[]) =>
  [0, ...cuts].map((from, at) => text.slice(from, cuts[at]));

/** Names of requests that builds are known to misread. */
export const hiddenLengthOfGet = "a nameless header hides the length of GET";
export const cutsName = "a request in two packets, cut at each byte";

const served: RawRequest[] = [
  { name: "a plain request", pieces: [get()], outcome: "served" },
  { name: "headers in two packets", pieces: inPieces(get("A: b"), 38), outcome: "served" },
  {
    name: "a body in a packet of its own",
    pieces: [post(json, "Content-Length: 2"), "{", "}"],
    outcome: "served",
  },
  {
    name: "a length of nothing",
    pieces: [post(json, "Content-Length: 0")],
    outcome: "served",
  },
  {
    name: "two requests in one packet",
    pieces: [get() + get()],
    outcome: "served",
    answers: 2,
  },
  {
    name: "a body and the next request in one packet",
    pieces: [`${post(json, "Content-Length: 2")}{}${get()}`],
    outcome: "served",
    answers: 2,
  },
];

const last: RawRequest[] = [
  { name: "a chunked body", pieces: [`${chunked}2\r\n{}\r\n0\r\n\r\n`], outcome: "last" },
  {
    name: "a chunked body in several packets",
    pieces: [chunked, "1\r\n", "{\r\n1", "\r\n}\r\n0", "\r\n\r\n"],
    outcome: "last",
  },
  { name: "POST without a length", pieces: [post(json)], outcome: "last" },
  {
    name: "DELETE without a length",
    pieces: [post().replace("POST", "DELETE")],
    outcome: "last",
  },
  { name: "Connection: close", pieces: [get("Connection: close")], outcome: "last" },
  {
    name: "close among other options",
    pieces: [get("Connection: keep-alive, Close")],
    outcome: "last",
  },
  {
    name: "close beside a second Connection",
    pieces: [get("Connection: keep-alive", "Connection: close")],
    outcome: "last",
  },
];

/** A request after a chunked body with unusual framing. */
const behindChunks: [what: string, body: string][] = [
  ["a trailer that is a request", `2\r\n{}\r\n0\r\n${asTrailer}`],
  ["a trailer, then a request", `2\r\n{}\r\n0\r\nX: y\r\n\r\n${smuggled}`],
  ["an extension with a bare LF", `2;\n{}\r\n0\r\n\r\n${smuggled}`],
  ["a bare LF behind a size", `2\n{}\r\n0\r\n\r\n${smuggled}`],
  ["bare LFs at the end", `2\r\n{}\r\n0\n\n${smuggled}`],
  ["bytes behind a chunk", `2\r\n{}XX0\r\n\r\n${smuggled}`],
  ["a size with 0x", `0x2\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ["a size with a sign", `+2\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ["a size behind a space", ` 2\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ["a size with a digit that is none", `g\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ["a size of seventeen digits", `10000000000000002\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ["a request behind it", `2\r\n{}\r\n0\r\n\r\n${smuggled}`],
];

const smuggling: [name: string, head: string][] = [
  ["a nameless header hides the length of POST", post(": x", hidden)],
  ["a nameless header hides the length of PUT", post(": x", hidden).replace("POST", "PUT")],
  ["a nameless header hides the length of DELETE", post(": x", hidden).replace("POST", "DELETE")],
  ["a nameless header hides the length of OPTIONS", post(": x", hidden).replace("POST", "OPTIONS")],
  ["a nameless header hides the length of TRACE", post(": x", hidden).replace("POST", "TRACE")],
  ["a nameless header hides the coding", post(json, ": x", "Transfer-Encoding: chunked")],
  ["two lengths", post("Content-Length: 0", hidden)],
  ["a length twice", post("Content-Length: 0", "Content-Length: 0")],
  ["a list of lengths", post("Content-Length: 0, 0")],
  ["a length with a sign", post("Content-Length: +0")],
  ["a hexadecimal length", post("Content-Length: 0x0")],
  ["an empty length", post("Content-Length:")],
  ["a length and a coding", post(hidden, "Transfer-Encoding: chunked")],
  ["an empty coding and a length", post("Transfer-Encoding:", hidden)],
  ["an empty coding", post("Transfer-Encoding:")],
  ["a coding we do not know", post("Transfer-Encoding: identity")],
  ["chunked before another coding", post("Transfer-Encoding: chunked, gzip")],
  ["chunked twice", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")],
  ["a coding that only looks chunked", post("Transfer-Encoding: xchunked")],
  ["two hosts", get("Host: other.example")],
  ["a list of hosts", get().replace("HOST", "HOST, other.example")],
  ["an empty host", get().replace("HOST", "")],
  ["no host", get("A: b").replace("Host: HOST\r\n", "")],
  ["a host with a path", get().replace("HOST", "HOST/x")],
  ["a method that is no word", get().replace("GET", "G{T")],
  ["no method", get().replace("GET", "")],
  ["a request behind Connection: close", get("Connection: close")],
  ["a request behind POST without a length", post(json)],
  ["a request behind DELETE without a length", post().replace("POST", "DELETE")],
];

const cut: RawRequest[] = [
  ...behindChunks.flatMap(([what, body]): RawRequest[] => [
    { name: `chunked: ${what}`, pieces: [chunked + body], outcome: "cut" },
  ]),
  ...smuggling.flatMap(([name, head]): RawRequest[] => [
    { name, pieces: [head + smuggled], outcome: "cut" },
    { name: `${name}, in the next packet`, pieces: [head, smuggled], outcome: "cut" },
  ]),
  {
    name: "chunked: a trailer that is a request, in the next packet",
    pieces: [`${chunked}2\r\n{}\r\n0\r\n`, asTrailer],
    outcome: "cut",
  },
  {
    name: "a request behind a body that is too large",
    pieces: [`${post(json, "Content-Length: 100000")}${"x".repeat(100_000)}${smuggled}`],
    outcome: "cut",
  },
  {
    name: hiddenLengthOfGet,
    pieces: [get(": x", hidden) + smuggled],
    outcome: "cut",
  },
];

const refused: RawRequest[] = (
  [
    ["HTTP/1.0", first(`GET ${target} HTTP/1.0`)],
    ["HTTP/1.2", first(`GET ${target} HTTP/1.2`)],
    ["http/1.1 in small letters", first(`GET ${target} http/1.1`)],
    ["no version", first(`GET ${target}`)],
    ["the start of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an absolute target", first(`GET http://HOST${target} HTTP/1.1`)],
    ["OPTIONS *", first("OPTIONS * HTTP/1.1")],
    ["CONNECT", first("CONNECT HOST:443 HTTP/1.1")],
    ["two spaces before the target", first(`GET  ${target} HTTP/1.1`)],
    ["two spaces behind the target", first(`GET ${target}  HTTP/1.1`)],
    ["a tab in the first line", first(`GET\t${target} HTTP/1.1`)],
    ["a space in the target", first(`GET ${target} x HTTP/1.1`)],
    ["a NUL in the target", first(`GET ${target}\0 HTTP/1.1`)],
    ["bare LFs", get().replaceAll("\r\n", "\n")],
    ["a bare LF in a header", get("A: b\nTransfer-Encoding: chunked")],
    ["a bare CR in a header", get("A: b\rTransfer-Encoding: chunked")],
    ["a NUL in a header", get("A: b\0c")],
    ["a header in two lines", get("A: b", " c: d")],
    ["a space before the colon", get("Content-Length : 5")],
    ["a space in a header's name", get("Content Length: 5")],
    ["a header without a colon", get("A")],
    ["a chunk extension", `${chunked}2;a=b\r\n{}\r\n0\r\n\r\n`],
    ["an extension of the last chunk", `${chunked}2\r\n{}\r\n0;a=b\r\n\r\n`],
    ["an empty line first", `\r\n\r\n${get()}`],
  ] as const
).map(([name, text]) => ({ name, pieces: [text + smuggled], outcome: "refused" }));

export const rawRequests: readonly RawRequest[] = [...served, ...last, ...cut, ...refused];

/** A plain request in two packets, split at each byte in turn. */
export const cutEverywhere = post(json, "Content-Length: 2") + "{}";
