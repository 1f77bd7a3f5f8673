import assert from "node:assert/strict";
import { errors } from "../../server/platform/errors.ts";
import type { AnyRoute, ResponseSpec } from "../../server/http/pipeline/route.ts";
import { requestArbitrary, toBytes, type FuzzRequest } from "./fuzz-requests.ts";
import { sendRaw, type RawResponse } from "./raw-http.ts";
import { fc } from "./seed.ts";

export interface FuzzOptions {
  runs: number;
  seed: number;
  /** Credentials sent with some requests: header name -> value. */
  credentials?: Record<string, string>[];
}

export interface FuzzReport {
  runs: number;
  /** Number of requests by status; 0 is a connection closed without a response. */
  statuses: Map<number, number>;
}

/** A malformed head stays pending for about ten seconds; other requests continue meanwhile. */
const parallelRequests = 24;
/** By then the server has closed a connection with an unreadable head. */
const unansweredWaitMs = 60_000;
/** Requests refused by uWebSockets.js itself before routing, with its own page instead of our envelope. */
const transportStatuses = new Set([400, 431, 505]);

/**
 * Sends `runs` random requests, derived from the routes or from nothing. Throws at the first response that
 * is 5xx or no valid response envelope, or if the service stops responding (S17).
 */
export async function fuzzRoutes(
  baseUrl: string,
  routes: readonly AnyRoute[],
  options: FuzzOptions,
): Promise<FuzzReport> {
  const port = Number(new URL(baseUrl).port);
  const statuses = new Map<number, number>();
  const usable = routes.filter((route) => !isStream(route));
  const requests = fc.sample(requestArbitrary(usable, options.credentials ?? []), {
    numRuns: options.runs,
    seed: options.seed,
  });
  const next = requests.values();
  const work = async () => {
    for (const request of next) {
      const status = await sendOne(port, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: parallelRequests }, work));
  await expectResponsive(baseUrl);
  return { runs: options.runs, statuses };
}

function isStream(route: AnyRoute): boolean {
  const specs: ResponseSpec[] = Object.values(route.responses);
  return specs.some((spec) => spec !== null && "kind" in spec && spec.kind === "stream");
}

async function sendOne(port: number, request: FuzzRequest): Promise<number> {
  const { responses, text, isClosedByServer } = await sendRaw(port, toBytes(request), {
    responses: 1,
    waitMs: unansweredWaitMs,
    isHead: request.method === "HEAD",
  });
  const [response] = responses;
  if (response === undefined) {
    assert.ok(isClosedByServer, `no response to ${describe(request)}`);
    assert.ok(
      text === "" || !text.startsWith("HTTP/1.1 2"),
      `half an answer to ${describe(request)}: ${text.slice(0, 200)}`,
    );
    return 0;
  }
  assert.ok(
    response.status < 500 || response.status === 505,
    `${response.status} to ${describe(request)}: ${response.body.slice(0, 500)}`,
  );
  checkResponse(request, response);
  return response.status;
}

function checkResponse(request: FuzzRequest, response: RawResponse): void {
  const type = response.headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (!type.startsWith("application/json")) {
    const isOurs = response.headers.some(([name]) => name === "x-request-id");
    assert.ok(
      isOurs ? response.status < 400 : transportStatuses.has(response.status),
      `bare ${response.status} to ${describe(request)}`,
    );
    return;
  }
  if (response.body === "") return;
  const envelope = JSON.parse(Buffer.from(response.body, "latin1").toString("utf8")) as Record<
    string,
    unknown
  >;
  assert.equal(envelope["code"], response.status, describe(request));
  if (response.status < 400) return;
  const code =
    (envelope["flash"] as { errors: { code: string }[] } | undefined)?.errors[0]?.code ?? "";
  assert.ok(code in errors, `unknown code ${code} to ${describe(request)}`);
}

const describe = (request: FuzzRequest) =>
  JSON.stringify(
    Buffer.from(toBytes(request))
      .toString("latin1")
      .replaceAll(/(.)\1{40,}/g, "$1[...]$1"),
  );

async function expectResponsive(baseUrl: string): Promise<void> {
  const answer = await fetch(`${baseUrl}/v1/after-the-storm`);
  assert.equal(answer.status, 404);
  await answer.arrayBuffer();
}
