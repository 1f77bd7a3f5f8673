import { EmberlineError } from "./errors.ts";
import { sendOnce, type Link, type Route } from "./request.ts";

/** Response header: port of the worker that owns the lobby. */
const ownerPortHeader = "X-Owner-Port";
const probePath = "/v1/health-check";
/** Timeout of a probe. */
const probeMs = 1_000;
/** An unreachable port is not probed again for this time. */
const unreachableMs = 300_000;
/** The same for a port that was reachable before: the worker restarts soon. Doubles with each failure. */
const firstLeftMs = 5_000;
/** Minimum time on one port: during a change of owner, two workers may name each other for a moment. */
const minStayMs = 1_000;

/** The same URL with another port; null when the own URL is unknown. */
function atPort(url: string, port: number): string | null {
  const { location } = globalThis as { location?: { origin: string } };
  try {
    const there = new URL(url === "" ? (location?.origin ?? "") : url);
    there.port = String(port);
    return there.href.replace(/\/+$/, "");
  } catch {
    return null;
  }
}

/** Reachability of the workers' ports, shared by all lobbies of a client. */
export class WorkerPorts {
  readonly #link: Link;
  readonly #known = new Map<number, { isThere: Promise<boolean>; until: number }>();
  readonly #failures = new Map<number, number>();

  constructor(link: Link) {
    this.#link = link;
  }

  urlOf(port: number): string {
    return atPort(this.#link.url, port) ?? this.#link.url;
  }

  /** Whether the service responds on this port; probed once, and again some time after a failure. */
  reach(port: number): Promise<boolean> {
    const { clock } = this.#link;
    const known = this.#known.get(port);
    if (known && clock.elapsed() < known.until) return known.isThere;
    const isThere = this.#probe(port).then((isFound) => {
      if (!isFound) this.#avoid(port, unreachableMs);
      return isFound;
    });
    this.#known.set(port, { isThere, until: Infinity });
    return isThere;
  }

  /** A request to this port failed without a response. */
  failed(port: number): void {
    const failures = this.#failures.get(port) ?? 0;
    this.#failures.set(port, failures + 1);
    this.#avoid(port, Math.min(unreachableMs, firstLeftMs * 2 ** Math.min(failures, 16)));
  }

  #avoid(port: number, ms: number): void {
    const until = this.#link.clock.elapsed() + ms;
    this.#known.set(port, { isThere: Promise.resolve(false), until });
  }

  /** Any response of the service counts, refusals included. */
  async #probe(port: number): Promise<boolean> {
    const url = atPort(this.#link.url, port);
    if (url === null) return false;
    try {
      const call = { method: "GET", path: probePath } as const;
      // A cached response would not show that the port is reachable.
      const request = { credentials: "omit", cache: "no-store" } as const;
      await sendOnce({ ...this.#link, url, request }, call, probeMs);
      return true;
    } catch (error) {
      return error instanceof EmberlineError && error.status > 0;
    }
  }
}

/**
 * Route to the worker that owns one lobby: its own port, once responses have named it and a probe succeeded; else the
 * port that all workers share, which serves every request as well.
 */
export class OwnerRoute implements Route {
  readonly #link: Link;
  readonly #ports: WorkerPorts;
  readonly #listeners = new Set<() => void>();
  /** Null: the shared one. */
  #port: number | null = null;
  #named: number | null = null;
  #movedAt = -Infinity;
  settled: Promise<void> = Promise.resolve();

  constructor(link: Link, ports: WorkerPorts) {
    this.#link = link;
    this.#ports = ports;
  }

  get url(): string {
    return this.#port === null ? this.#link.url : this.#ports.urlOf(this.#port);
  }

  learn(headers: Headers): void {
    const port = Number(headers.get(ownerPortHeader) ?? 0);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return;
    this.#named = port;
    if (port === this.#port) return;
    if (this.#link.clock.elapsed() - this.#movedAt < minStayMs) return;
    this.settled = this.#ports.reach(port).then((isThere) => {
      if (isThere && this.#named === port) this.#move(port);
    });
  }

  leave(url: string): boolean {
    if (url === this.#link.url) return false;
    if (this.#port !== null && url === this.url) {
      this.#ports.failed(this.#port);
      this.#move(null);
    }
    return true;
  }

  onMove(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #move(port: number | null): void {
    const before = this.url;
    if (port !== null) this.#movedAt = this.#link.clock.elapsed();
    this.#port = port;
    if (this.url !== before) for (const listener of [...this.#listeners]) listener();
  }
}
