import type { IncomingHttpHeaders } from "node:http";

/**
 * After a failure the owner's port is not used for this time, because another worker may soon listen there.
 */
const leftMs = 2_000;

/**
 * Target of the requests about one lobby: the owner's port as named in responses, and the shared port after
 * a failure. With `follows: false` always the shared port.
 */
export class Address {
  /** Number of requests and streams sent directly to an owner. */
  numDirect = 0;
  readonly #base: string;
  readonly #follows: boolean;
  #owner: string | null = null;
  readonly #leftUntil = new Map<string, number>();

  constructor(base: string, follows = false) {
    this.#base = base;
    this.#follows = follows;
  }

  static of(to: string | Address): Address {
    return typeof to === "string" ? new Address(to) : to;
  }

  /** Port of the next request. */
  next(): string {
    if (this.#owner !== null) this.numDirect += 1;
    return this.#owner ?? this.#base;
  }

  learn(headers: IncomingHttpHeaders): void {
    const port = headers["x-owner-port"];
    if (!this.#follows || typeof port !== "string") return;
    const there = this.#base.replace(/:\d+$/, `:${port}`);
    if ((this.#leftUntil.get(there) ?? 0) <= performance.now()) this.#owner = there;
  }

  /** A request to this port failed. */
  failed(url: string): void {
    if (url === this.#base) return;
    this.#leftUntil.set(url, performance.now() + leftMs);
    if (this.#owner === url) this.#owner = null;
  }
}
