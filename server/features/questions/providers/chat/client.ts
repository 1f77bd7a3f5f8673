import type OpenAI from "openai";
import type { Logger } from "../../../../platform/log/logger.ts";
import type { Metrics } from "../../../../platform/metrics/metrics.ts";
import type { Budget } from "./budget.ts";
import type { Prompt } from "./prompts.ts";

/** Maximum bytes of a response (TRV-13); a longer one fails. */
export const answerLimitBytes = 256 * 1_024;
/** Maximum output tokens per call: enough for 20 questions, and a limit on the cost. */
const mostTokens = 8_192;
/** Errors before the request reached a server: no tokens were used. */
const unreached = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Estimated characters per token, for a server without a usage count. */
const charactersPerToken = 3;

export interface ChatSettings {
  /** Base address; `/chat/completions` is appended. */
  url: string;
  key: string;
  /** Price of a million tokens by model, for the metric only. */
  prices: ReadonlyMap<string, { input: number; output: number }>;
}

/** The model's response does not fit the schema. A retry may help. */
export class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
}

/** Calls `model` and returns the JSON value of its response, unchecked. */
export type Ask = (prompt: Prompt, model: string, signal: AbortSignal) => Promise<unknown>;

/** A client of any server that speaks the chat-completions protocol with structured output. */
export function createChatClient(
  settings: ChatSettings,
  parts: { metrics: Metrics; log: Logger; budget: Budget },
): Ask {
  const { metrics, budget, log } = parts;
  let opened: Promise<OpenAI> | null = null;
  const open = () => (opened ??= openClient(settings));
  return async (prompt, model, signal) => {
    await budget.require();
    const startedAt = performance.now();
    const finish = (outcome: string) => {
      metrics.generatorCalls.inc({ purpose: prompt.purpose, outcome });
      metrics.generatorSeconds.observe({ model }, (performance.now() - startedAt) / 1_000);
    };
    try {
      const client = await open();
      const completion = await client.chat.completions
        .create(requestOf(prompt, model), { signal })
        .catch((error: unknown) => {
          // The next attempt uses the same connection, and the circuit breaker gets the failure at once.
          if (mayHaveCost(error)) void charge(budget, log, inputOf(prompt, null) + mostTokens);
          throw error;
        });
      await account(completion, prompt, model, settings, parts);
      const value = valueOf(completion);
      finish("answered");
      return value;
    } catch (error) {
      // The library does not validate the response envelope.
      const isMalformed = error instanceof MalformedAnswer || error instanceof SyntaxError;
      finish(isMalformed ? "malformed" : "failed");
      throw isMalformed ? new MalformedAnswer(error.message, { cause: error }) : error;
    }
  };
}

/** Loaded at the first call: most installations never make one. */
async function openClient({ url, key }: ChatSettings): Promise<OpenAI> {
  const { default: OpenAI } = await import("openai");
  return new OpenAI({
    baseURL: url,
    // The library requires a key; self-hosted servers often need none.
    apiKey: key === "" ? "none" : key,
    organization: null,
    project: null,
    // The policies around the call do retries.
    maxRetries: 0,
    logLevel: "off",
    fetch: fetchBounded,
  });
}

/** Follows no redirect and reads no more than the limit, decompressed (S24, TRV-13). */
async function fetchBounded(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "error" });
  let size = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > answerLimitBytes) controller.error(new MalformedAnswer("the answer is too long"));
      else controller.enqueue(chunk);
    },
  });
  const { status, headers } = response;
  return new Response(response.body?.pipeThrough(counter) ?? null, { status, headers });
}

function requestOf(prompt: Prompt, model: string) {
  return {
    model,
    max_completion_tokens: mostTokens,
    messages: [
      { role: "system" as const, content: prompt.rules },
      { role: "user" as const, content: JSON.stringify(prompt.data) },
    ],
    response_format: {
      type: "json_schema" as const,
      json_schema: { name: prompt.purpose, strict: true, schema: { ...prompt.answer } },
    },
  };
}

/** The library returns any JSON of the server. */
type Completion = OpenAI.Chat.Completions.ChatCompletion | null;

/** Counts tokens and cost, also of unusable responses, which cost the same. */
async function account(
  completion: Completion,
  prompt: Prompt,
  model: string,
  { prices }: ChatSettings,
  { metrics, log, budget }: { metrics: Metrics; log: Logger; budget: Budget },
): Promise<void> {
  const written = completion?.choices?.[0]?.message?.content ?? "";
  const input = inputOf(prompt, completion?.usage?.prompt_tokens);
  const output = countOf(completion?.usage?.completion_tokens, written);
  metrics.generatorTokens.inc({ model, kind: "input" }, input);
  metrics.generatorTokens.inc({ model, kind: "output" }, output);
  const price = prices.get(model);
  if (price) {
    const cost = (input * price.input + output * price.output) / 1_000_000;
    metrics.generatorCost.inc({ model }, cost);
  }
  await charge(budget, log, input + output);
}

async function charge(budget: Budget, log: Logger, tokens: number): Promise<void> {
  await budget
    .spend(tokens)
    .catch((error: unknown) =>
      log.warn(
        { event: "token_count_failed", err: error },
        "tokens not counted against the budget",
      ),
    );
}

/** A model continues, and costs money, after a timeout or a lost response. A refused request costs nothing. */
function mayHaveCost(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("status" in at && typeof at.status === "number") return false;
    if ("code" in at && unreached.has(String(at.code))) return false;
  }
  return true;
}

const inputOf = (prompt: Prompt, reported: unknown) =>
  countOf(reported, prompt.rules + JSON.stringify(prompt.data));

function countOf(reported: unknown, text: string): number {
  const isCount = typeof reported === "number" && Number.isSafeInteger(reported) && reported >= 0;
  return isCount ? reported : Math.ceil(text.length / charactersPerToken);
}

/**
 * Some servers wrap the JSON in a code fence. Each end is matched alone: a pattern of the whole would backtrack over
 * the long white space of truncated responses.
 */
const withoutFence = (content: string) =>
  content
    .trim()
    .replace(/^```(?:json)?/, "")
    .replace(/```$/, "");

function valueOf(completion: Completion): unknown {
  const content = completion?.choices?.[0]?.message?.content;
  if (typeof content !== "string") throw new MalformedAnswer("the answer has no text");
  try {
    return JSON.parse(withoutFence(content));
  } catch (error) {
    throw new MalformedAnswer("the answer is no JSON", { cause: error });
  }
}
