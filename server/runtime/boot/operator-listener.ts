import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../platform/log/logger.ts";
import type { Give } from "./child.ts";
import { splitAddress } from "./ports.ts";

/** Connections waiting for the operator process; equals the number it serves concurrently. */
export const maxWaiting = 256;

export interface OperatorListenerOptions {
  /** `host:port` of OPERATOR_LISTEN. */
  address: string;
  log: Logger;
  /** Starts the operator process if necessary; resolves when it is ready. */
  wake: () => Promise<Give>;
}

/**
 * Listens on the operator address until the first connection. An unused operator process would cost half a
 * second of processor at start and 60 MB. The started process receives the listener and the connections so
 * far.
 */
export class OperatorListener {
  readonly #options: OperatorListenerOptions;
  readonly #waiting = new Set<Socket>();
  #server: Server | null = null;
  #isHandingOver = false;
  #hasProcessEnded = false;
  #isClosed = false;

  constructor(options: OperatorListenerOptions) {
    this.#options = options;
  }

  async listen(): Promise<void> {
    const server = createServer({ pauseOnConnect: true }, (socket) => this.#accept(socket));
    server.maxConnections = maxWaiting;
    server.listen({ ...splitAddress(this.#options.address), exclusive: true });
    await once(server, "listening");
    this.#server = server;
  }

  /** The operator process has ended: connections wait here again until the next one is ready. */
  processEnded(): void {
    this.#hasProcessEnded = true;
    if (!this.#isHandingOver) this.#listenAgain();
  }

  close(): void {
    this.#isClosed = true;
    this.#server?.close();
    this.#refuseWaiting();
  }

  #accept(socket: Socket): void {
    this.#waiting.add(socket);
    socket.once("close", () => this.#waiting.delete(socket));
    socket.on("error", () => socket.destroy());
    if (!this.#isHandingOver) void this.#handOver();
  }

  async #handOver(): Promise<void> {
    this.#isHandingOver = true;
    try {
      const give = await this.#options.wake();
      this.#hasProcessEnded = false;
      await this.#giveAll(give);
    } catch (error) {
      const facts = { event: "operator_not_reached", reason: String(error) };
      this.#options.log.warn(facts, "operator process not reached, connections closed");
      this.#refuseWaiting();
    }
    this.#isHandingOver = false;
    if (this.#hasProcessEnded) this.#listenAgain();
  }

  async #giveAll(give: Give): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    await give(server);
    this.#server = null;
    server.close();
    for (const socket of this.#waiting) {
      this.#waiting.delete(socket);
      await give(socket);
    }
  }

  #listenAgain(): void {
    if (this.#server !== null || this.#isClosed) return;
    this.listen().catch((error: unknown) =>
      this.#options.log.error(
        { event: "operator_listener_failed", err: error },
        "operator listener does not listen",
      ),
    );
  }

  #refuseWaiting(): void {
    for (const socket of this.#waiting) socket.destroy();
    this.#waiting.clear();
  }
}
