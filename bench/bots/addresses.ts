/** The end of a sentence about what one address may do. */
export const howToGiveAddresses =
  "--addresses 10.9.0.0/16 gives each bot its own address, where TRUSTED_PROXIES of the target has this machine";

/** IPv4 addresses of a range such as "10.9.0.0/16", without its first; they repeat after the last. */
export class Addresses {
  readonly #first: number;
  readonly #size: number;

  /** Throws if the text is no IPv4 range. */
  constructor(range: string) {
    const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(range);
    const [a, b, c, d, bits] = (match ?? []).slice(1).map(Number);
    const parts = [a, b, c, d].map((part) => part ?? 256);
    if (bits === undefined || bits > 30 || parts.some((part) => part > 255))
      throw new RangeError(`"${range}" is no IPv4 range like 10.9.0.0/16`);
    this.#size = 2 ** (32 - bits);
    const address = parts.reduce((number, part) => number * 256 + part, 0);
    this.#first = address - (address % this.#size);
  }

  at(n: number): string {
    const address = this.#first + 1 + (n % (this.#size - 1));
    return [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join(".");
  }
}
