import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../platform/config/config.ts";
import { listenUrl } from "../platform/net/addresses.ts";
import { knownOperatorToken } from "../runtime/boot/operator-token.ts";
import { splitAddress } from "../runtime/boot/ports.ts";
import { Refusal } from "./command.ts";

/** The operator process may have to start first, or another instance to answer. */
const answerLimitMs = 20_000;
/** Attempts of a read; whoever asks repeatedly for minutes meets a moment without an answer. */
const maxReads = 5;
const readPauseMs = 1_000;

interface Answer {
  body?: unknown;
  flash?: { errors?: { code: string; message?: string }[] };
}

/** The operator listener of the running service, on this machine; changes are recorded there (S16). */
export class OperatorApi {
  readonly #url: string;
  readonly #token: string;

  /** Refuses settings without a token or an address. */
  constructor(config: Config) {
    const token = config.OPERATOR_TOKEN || knownOperatorToken(config);
    if (!token) throw new Refusal("worker:no_token set OPERATOR_TOKEN to the token of an operator");
    const { host, port } = splitAddress(config.OPERATOR_LISTEN);
    if (port === 0) throw new Refusal("worker:no_address OPERATOR_LISTEN has no fixed port");
    this.#url = listenUrl({ HOST: host, PORT: port });
    this.#token = token;
  }

  /** The body of the answer. Retries while nobody answers. */
  async get<Body>(path: string): Promise<Body> {
    for (let numReads = 1; ; numReads++)
      try {
        return (await this.#send("GET", path)) as Body;
      } catch (error) {
        if (!(error instanceof Unreachable) || numReads >= maxReads) throw error;
        await sleep(readPauseMs);
      }
  }

  /** Makes a change, once. */
  async post<Body>(path: string, body: Record<string, unknown>): Promise<Body> {
    return (await this.#send("POST", path, body)) as Body;
  }

  async #send(method: string, path: string, body?: Record<string, unknown>): Promise<unknown> {
    const url = `${this.#url}${path}`;
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerLimitMs),
    }).catch(() => null);
    if (response === null) throw new Unreachable(`worker:unreachable no response from ${url}`);
    const answer = (await response.json().catch(() => null)) as Answer | null;
    if (response.ok) return answer?.body;
    const [error] = answer?.flash?.errors ?? [];
    throw new Refusal(`${error?.code ?? "worker:failed"} ${error?.message ?? response.status}`);
  }
}

class Unreachable extends Refusal {}
