import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  code: string | null;
  headers: IncomingHttpHeaders;
}

interface Call {
  method: "GET" | "POST" | "PATCH";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A request that hangs, for example at a frozen process, is aborted after this time and repeated. */
const attemptMs = 2_000;
const timeoutMs = 45_000;
const retryMs = 50;

/** `fetch` uses several times as much CPU, which the service under test would lack. */
const agent = new Agent({ keepAlive: true });

/** One attempt; throws if the connection breaks or no response comes in time. */
async function callOnce(url: string, call: Call): Promise<Answer> {
  const sent = call.body === undefined ? null : JSON.stringify(call.body);
  const headers = sent === null ? {} : { "content-type": "application/json" };
  const asked = request(url + call.path, {
    method: call.method,
    agent,
    headers: { ...headers, ...call.headers },
  });
  const limit = setTimeout(() => asked.destroy(new Error("no answer in time")), attemptMs);
  try {
    asked.end(sent ?? undefined);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    const json = parseEnvelope(await text(response));
    return {
      status: response.statusCode ?? 0,
      body: json.body ?? {},
      code: json.flash?.errors?.[0]?.code ?? null,
      headers: response.headers,
    };
  } finally {
    clearTimeout(limit);
  }
}

/** Repeats a command with the same key until the service accepts or refuses it, like a careful client. */
export async function insist(url: string, call: Call): Promise<Answer> {
  const headers = { "idempotency-key": randomUUID(), ...call.headers };
  const startedAt = performance.now();
  const failures = new Map<string, number>();
  for (;;) {
    let reason: string;
    try {
      const answer = await callOnce(url, { ...call, headers });
      if (answer.status < 500) return answer;
      reason = `${answer.status} ${answer.code}`;
    } catch (error) {
      reason = String(error);
    }
    const ms = Math.round(performance.now() - startedAt);
    failures.set(reason, (failures.get(reason) ?? 0) + 1);
    if (ms > timeoutMs) {
      const reasons = [...failures].map(([what, count]) => `${count} x ${what}`).join(", ");
      throw new Error(`${call.method} ${call.path} had no answer in ${ms} ms: ${reasons}`);
    }
    await wait(retryMs);
  }
}

/** A proxy without a server behind it answers with a page of its own. */
function parseEnvelope(received: string): Envelope {
  try {
    return received === "" ? {} : (JSON.parse(received) as Envelope);
  } catch {
    return {};
  }
}

interface Envelope {
  body?: Record<string, unknown>;
  flash?: { errors?: { code: string }[] };
}
