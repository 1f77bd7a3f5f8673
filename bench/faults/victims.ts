import { Redis } from "ioredis";
import { shardOf } from "../../actors/log/keys.ts";
import { lobbyKeyspace } from "../../actors/lobby/keys.ts";
import type { Process, Service } from "../../test/support/process.ts";

/** The HTTP workers of an instance as victims of faults, and the lobbies that each of them owns. */
export class Victims {
  readonly #service: Service;
  readonly #redis: Redis;
  /** Pids that a fault has hit already. */
  readonly #hit = new Set<number>();

  constructor(service: Service) {
    this.#service = service;
    this.#redis = new Redis(service.redisUrl.replace(/^unix:\/\//, ""), {
      maxRetriesPerRequest: 0,
    });
    // A fault may restart it; a command fails meanwhile.
    this.#redis.on("error", () => undefined);
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** None while the operator listener does not answer. */
  async workers(): Promise<Process[]> {
    const all = await this.#service.processes().catch(() => []);
    return all.filter(({ role }) => role === "http");
  }

  /**
   * The ready worker with the longest uptime that owns one of the lobbies, if any does. Null if another one would not
   * be left to take over; the only worker of an instance is one all the same.
   */
  async pick(codes: readonly string[]): Promise<{ worker: Process; codes: string[] } | null> {
    const all = await this.workers();
    const ready = all.filter(({ is_ready: isReady, pid }) => isReady && !this.#hit.has(pid));
    if (ready.length < Math.min(2, Math.max(1, all.length))) return null;
    const byAge = ready.toSorted((a, b) => a.started_at.localeCompare(b.started_at));
    const owned = await Promise.all(byAge.map((worker) => this.#lobbiesOf(worker, codes)));
    const owning = owned.findIndex((own) => own.length > 0);
    const chosen = Math.max(0, owning);
    const worker = byAge[chosen];
    if (!worker) return null;
    this.#hit.add(worker.pid);
    return { worker, codes: owned[chosen] ?? [] };
  }

  /** A worker that was hit works again. */
  release(pid: number): void {
    this.#hit.delete(pid);
  }

  async #lobbiesOf({ incarnation }: Process, codes: readonly string[]): Promise<string[]> {
    if (codes.length === 0) return [];
    const keys = codes.map((code) => lobbyKeyspace.owner(shardOf(code)));
    const owners = await this.#redis.mget(keys).catch(() => []);
    return codes.filter((_, i) => owners[i]?.startsWith(`${incarnation}|`));
  }
}
