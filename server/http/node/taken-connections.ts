import { once } from "node:events";
import type { Socket } from "node:net";

export interface TakenConnectionsOptions {
  max: number;
  /** Time to receive a request. */
  receiveLimitMs: number;
}

interface State {
  /** Ends the connection; null while a request is served. */
  timer: NodeJS.Timeout | null;
  /** Bytes received when it last began to wait for a request. */
  numBytesBefore: number;
}

/**
 * Connections that another process accepted. `node:http` serves them, but it limits the time of a request and closes
 * idle connections only for those it has accepted itself.
 */
export class TakenConnections {
  readonly #options: TakenConnectionsOptions;
  readonly #states = new Map<Socket, State>();
  #isDraining = false;

  constructor(options: TakenConnectionsOptions) {
    this.#options = options;
  }

  /** False if there are too many: it is closed. */
  add(socket: Socket): boolean {
    if (this.#states.size >= this.#options.max) {
      socket.destroy();
      return false;
    }
    this.#states.set(socket, { timer: null, numBytesBefore: socket.bytesRead });
    socket.once("close", () => this.#remove(socket));
    this.#startTimer(socket);
    return true;
  }

  /** The request was received. */
  markServing(socket: Socket): void {
    const state = this.#states.get(socket);
    if (state?.timer) clearTimeout(state.timer);
    if (state) state.timer = null;
  }

  /** The response was sent, and another request may follow. */
  markWaiting(socket: Socket): void {
    const state = this.#states.get(socket);
    if (!state) return;
    if (this.#isDraining) return void socket.end();
    state.numBytesBefore = socket.bytesRead;
    this.#startTimer(socket);
  }

  /** Closes idle connections; resolves when all have ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const closed = [...this.#states.keys()].map((socket) => once(socket, "close"));
    for (const [socket, { timer, numBytesBefore }] of this.#states)
      if (timer !== null && socket.bytesRead === numBytesBefore) socket.end();
    await Promise.all(closed);
  }

  destroy(): void {
    for (const socket of this.#states.keys()) socket.destroy();
  }

  #startTimer(socket: Socket): void {
    this.markServing(socket);
    const state = this.#states.get(socket);
    if (state)
      state.timer = setTimeout(() => socket.destroy(), this.#options.receiveLimitMs).unref();
  }

  #remove(socket: Socket): void {
    this.markServing(socket);
    this.#states.delete(socket);
  }
}
