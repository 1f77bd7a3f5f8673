import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  code: string | null;
  headers: Headers;
}

export interface Call {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A request that hangs, for example at a frozen process, is given up after this and made again. */
const attemptMs = 2_000;
const patienceMs = 45_000;
const retryMs = 50;

/** One try; throws when the connection breaks or nothing comes in time. */
export async function callOnce(url: string, call: Call): Promise<Answer> {
  const response = await fetch(url + call.path, {
    method: call.method,
    signal: AbortSignal.timeout(attemptMs),
    headers: {
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await response.text();
  const json = text === "" ? {} : (JSON.parse(text) as Envelope);
  return {
    status: response.status,
    body: json.body ?? {},
    code: json.flash?.errors?.[0]?.code ?? null,
    headers: response.headers,
  };
}

/** Repeats one intent under one key until the service says yes or no, as a careful client does. */
export async function insist(url: string, call: Call): Promise<Answer> {
  const headers = { "idempotency-key": randomUUID(), ...call.headers };
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    let reason: string;
    try {
      const answer = await callOnce(url, { ...call, headers });
      if (answer.status < 500) return answer;
      reason = `${answer.status} ${answer.code}`;
    } catch (error) {
      reason = String(error);
    }
    if (performance.now() > giveUpAt)
      throw new Error(`${call.method} ${call.path} had no answer: ${reason}`);
    await wait(retryMs);
  }
}

interface Envelope {
  body?: Record<string, unknown>;
  flash?: { errors?: { code: string }[] };
}
