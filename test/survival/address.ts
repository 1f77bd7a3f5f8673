import type { IncomingHttpHeaders } from "node:http";

/** For so long the port of an owner is left alone after a failure: another worker may listen there soon. */
const leftMs = 2_000;

/**
 * Where the requests about one lobby go: to the port of its owner, as answers name it, and to the common one after a
 * failure. `follows: false` stays at the common one.
 */
export class Address {
  /** Requests and streams that went straight to an owner. */
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

  /** Of the next request. */
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

  /** A request there did not come back. */
  failed(url: string): void {
    if (url === this.#base) return;
    this.#leftUntil.set(url, performance.now() + leftMs);
    if (this.#owner === url) this.#owner = null;
  }
}
