import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../platform/log/logger.ts";
import type { ProbeAnswers } from "../../platform/probes.ts";
import type { Give } from "./child.ts";
import { connectionBuffer, probeIn, readStart, type Probe } from "./connection-start.ts";
import { splitAddress } from "./ports.ts";

/** Connections waiting for the operator process; equals the number it serves concurrently. */
export const maxWaiting = 256;
/** Time for the first line of a connection. */
const startLimitMs = 15_000;
/** Time for the client of a probe to close the connection. */
const closeLimitMs = 2_000;

export interface OperatorListenerOptions {
  /** `host:port` of OPERATOR_LISTEN. */
  address: string;
  log: Logger;
  /** Starts the operator process if necessary; resolves when it is ready. */
  wake: () => Promise<Give>;
  probes: () => ProbeAnswers;
}

/**
 * Listens on the operator address, answers `/live` and `/ready`, and transfers every other connection to the
 * operator process. An unused operator process would cost half a second of processor at start and 60 MB; and a probe
 * must be answered even while that process starts, is busy or frozen.
 */
export class OperatorListener {
  readonly #options: OperatorListenerOptions;
  /** Connections that are neither answered nor transferred. */
  readonly #waiting = new Set<Socket>();
  #server: Server | null = null;
  #waking: Promise<Give> | null = null;
  #isStopping = false;

  constructor(options: OperatorListenerOptions) {
    this.#options = options;
  }

  async listen(): Promise<void> {
    const server = createServer(
      { allowHalfOpen: true, highWaterMark: connectionBuffer },
      (socket) => void this.#accept(socket),
    );
    server.maxConnections = maxWaiting;
    server.listen({ ...splitAddress(this.#options.address), exclusive: true });
    await once(server, "listening");
    this.#server = server;
  }

  /** From now on only probes are answered. */
  beginStop(): void {
    this.#isStopping = true;
    for (const socket of this.#waiting) socket.destroy();
  }

  close(): void {
    this.beginStop();
    this.#server?.close();
  }

  async #accept(socket: Socket): Promise<void> {
    this.#waiting.add(socket);
    socket.once("close", () => this.#waiting.delete(socket));
    socket.on("error", () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), startLimitMs);
    const start = await readStart(socket);
    clearTimeout(timer);
    const probe = start && probeIn(start);
    if (probe !== null) return this.#answer(socket, probe);
    if (start === null || this.#isStopping) return void socket.destroy();
    await this.#transfer(socket, start);
  }

  #answer(socket: Socket, { name, isHead }: Probe): void {
    const { status, word } = this.#options.probes()[name];
    const head = [
      `HTTP/1.1 ${status} ${status === 200 ? "OK" : "Service Unavailable"}`,
      "Content-Type: text/plain; charset=utf-8",
      `Content-Length: ${word.length}`,
      "Cache-Control: no-store",
      "X-Content-Type-Options: nosniff",
      "Connection: close",
    ];
    this.#waiting.delete(socket);
    const timer = setTimeout(() => socket.destroy(), closeLimitMs);
    socket.once("close", () => clearTimeout(timer));
    // The rest of the request is read and discarded: unread, it would reset the connection.
    socket.resume();
    socket.end(`${head.join("\r\n")}\r\n\r\n${isHead ? "" : word}`);
  }

  async #transfer(socket: Socket, start: Buffer): Promise<void> {
    try {
      this.#waking ??= this.#options.wake().finally(() => (this.#waking = null));
      const give = await this.#waking;
      if (socket.destroyed) return;
      this.#waiting.delete(socket);
      await give(socket, start);
    } catch (error) {
      const facts = { event: "operator_not_reached", reason: String(error) };
      this.#options.log.warn(facts, "operator process not reached, connection closed");
      socket.destroy();
    }
  }
}
