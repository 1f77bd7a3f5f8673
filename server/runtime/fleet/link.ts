import type { Redis } from "ioredis";
import { formOf, isReadable } from "../../platform/forms.ts";
import { randomId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Channels } from "../../platform/redis/channels.ts";
import { createChannels } from "../../platform/redis/create-channels.ts";
import { publish } from "../../platform/redis/redis.ts";
import type { Question } from "../process-questions.ts";
import { linkLimits } from "./limits.ts";

/** Questions that the primary of another instance answers; a later release may ask others. */
export const fleetQuestions = [
  "processes",
  "rooms",
  "room",
  "subscribers",
  "seats",
  "figures",
  "successor",
  "drain",
] as const satisfies readonly Question[];
export type FleetQuestion = (typeof fleetQuestions)[number];

interface AskMessage {
  type: "ask";
  id: string;
  /** Instance to answer. */
  from: string;
  /** By the clock of Redis. */
  sentAt: number;
  question: string;
  about: unknown;
  /** Form of the message; the first has no number (BOOT-22). */
  form?: number;
}

interface AnswerMessage {
  type: "answer";
  id: string;
  value: unknown;
  form?: number;
}

/** How a question ended: `unsent` is certain, a `late` one may still be answered with deeds. */
export type FleetReply = { end: "answered"; value: unknown } | { end: "unsent" } | { end: "late" };

export interface FleetLinkOptions {
  redis: Redis;
  redisUrl: string;
  /** Instance id of this primary. */
  id: string;
  log: Logger;
  /** Milliseconds since 1970 by the clock of Redis. */
  redisNow: () => number;
  answer: (question: FleetQuestion, about: unknown) => Promise<unknown>;
  limits?: Partial<typeof linkLimits>;
}

const channelOf = (id: string): string => `fleet:${id}`;

/** Questions between the primaries of a fleet, over Redis: at most once, each with a deadline. */
export class FleetLink {
  readonly #options: FleetLinkOptions;
  readonly #limits: typeof linkLimits;
  readonly #pending = new Map<string, (reply: FleetReply) => void>();
  #numAnswering = 0;
  #channels: Channels | null = null;

  constructor(options: FleetLinkOptions) {
    this.#options = options;
    this.#limits = { ...linkLimits, ...options.limits };
  }

  /** Resolves once questions of others arrive. */
  start(): Promise<void> {
    const { redisUrl, log, id } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#channels = createChannels({
      ...{ url: redisUrl, log, name: "fleet" },
      onMessage: (_, text) => void this.#receive(text),
      confirmed: () => resolve(),
    });
    this.#channels.follow(channelOf(id));
    return promise;
  }

  stop(): void {
    this.#channels?.close();
    for (const resolve of this.#pending.values()) resolve({ end: "late" });
  }

  /** `timeoutMs` is the longest wait for the answer. */
  async ask(
    to: string,
    question: FleetQuestion,
    about: unknown,
    timeoutMs: number,
  ): Promise<FleetReply> {
    if (this.#pending.size >= this.#limits.maxPending) return { end: "unsent" };
    const { id: from, redisNow } = this.#options;
    const id = randomId();
    const { promise, resolve } = Promise.withResolvers<FleetReply>();
    const timer = setTimeout(resolve, timeoutMs, { end: "late" });
    this.#pending.set(id, resolve);
    const message: AskMessage = { type: "ask", id, from, sentAt: redisNow(), question, about };
    void this.#send(to, message).then((isSent) => isSent || resolve({ end: "unsent" }));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** False only if nobody can have received it. */
  async #send(to: string, message: AskMessage | AnswerMessage): Promise<boolean> {
    const { redis, log } = this.#options;
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > this.#limits.maxBytes) {
      const facts = { event: "fleet_message_too_large", to, type: message.type };
      log.warn(facts, "message to another instance not sent, it is too large");
      return false;
    }
    try {
      return (await publish(redis, channelOf(to), text)) > 0;
    } catch (error) {
      const facts = { event: "fleet_message_failed", to, type: message.type, err: error };
      log.warn(facts, "message to another instance failed, it counts as unanswered");
      // It may have been published before the connection broke.
      return true;
    }
  }

  async #receive(text: string): Promise<void> {
    const message = parse(text);
    if (message?.type === "answer")
      return this.#pending.get(message.id)?.({ end: "answered", value: message.value });
    if (message?.type !== "ask" || this.#numAnswering >= this.#limits.maxAnswering) return;
    if (this.#options.redisNow() - message.sentAt > this.#limits.validMs) return;
    this.#numAnswering += 1;
    await this.#answer(message).finally(() => (this.#numAnswering -= 1));
  }

  async #answer({ id, from, ...asked }: AskMessage): Promise<void> {
    const question = fleetQuestions.find((known) => known === asked.question);
    if (question === undefined) return;
    try {
      const value = (await this.#options.answer(question, asked.about)) ?? null;
      const isSent = await this.#send(from, { type: "answer", id, value });
      // Without an answer the asker would wait until its deadline.
      if (!isSent) await this.#send(from, { type: "answer", id, value: null });
    } catch (error) {
      const facts = { event: "fleet_answer_failed", question, err: error };
      this.#options.log.warn(facts, "question of another instance not answered");
    }
  }
}

/** Null for what this release does not read. */
function parse(text: string): AskMessage | AnswerMessage | null {
  try {
    const message = JSON.parse(text) as AskMessage | AnswerMessage;
    return isReadable("message", formOf(message.form)) ? message : null;
  } catch {
    return null;
  }
}
