import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Shared } from "../shared.ts";
import { Signal } from "../signal.ts";

/** Maximum number of bytes queued for a peer; beyond it messages go through Redis. */
const maxUnsentBytes = 4_194_304;
/** Maximum length of a message; a peer that sends more is disconnected. */
const maxLineBytes = 16_777_216;
/** Reconnect interval for an unreachable peer; meanwhile messages go through Redis. */
const retryMs = 1_000;

export interface PeerLinksDeps extends Pick<Shared, "log" | "nodeId"> {
  /** Folder with the sockets of the processes of this machine; accessible to its owner only. */
  dir: string;
}

interface Link {
  socket: Socket;
  isOpen: boolean;
  failedAt: number | null;
}

/**
 * Messages between processes of one machine, over one Unix socket per direction, one message per line.
 * Messages to other machines, and those sent while a link connects, go through Redis.
 */
export class PeerLinks {
  readonly received = new Signal<[message: string]>();
  /** A link broke, so messages on it may be lost. */
  readonly lost = new Signal<[target: string]>();
  readonly #deps: PeerLinksDeps;
  readonly #server: Server;
  readonly #links = new Map<string, Link>();
  readonly #incoming = new Set<Socket>();

  constructor(deps: PeerLinksDeps) {
    this.#deps = deps;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.on("error", (error) => this.#warn("listen", error));
    rmSync(this.#pathOf(deps.nodeId), { force: true });
    this.#server.listen(this.#pathOf(deps.nodeId));
    this.#server.unref();
  }

  /** Sends a message without line breaks to a process; false if there is no link to it now. */
  send(target: string, message: string): boolean {
    const link = this.#links.get(target);
    if (link?.isOpen) {
      if (link.socket.writableLength > maxUnsentBytes) return false;
      link.socket.write(`${message}\n`);
      return true;
    }
    const mayTry = !link || (link.failedAt !== null && performance.now() - link.failedAt > retryMs);
    if (mayTry) this.#connect(target);
    return false;
  }

  /** The process has ended for good. */
  drop(target: string): void {
    this.#links.get(target)?.socket.destroy();
    this.#links.delete(target);
    rmSync(this.#pathOf(target), { force: true });
  }

  close(): void {
    this.#server.close();
    for (const { socket } of this.#links.values()) socket.destroySoon();
    for (const socket of this.#incoming) socket.destroy();
    this.#links.clear();
  }

  #pathOf(nodeId: string): string {
    return join(this.#deps.dir, `${nodeId}.sock`);
  }

  #connect(target: string): void {
    const socket = connect(this.#pathOf(target));
    const link: Link = { socket, isOpen: false, failedAt: null };
    this.#links.set(target, link);
    socket.unref();
    socket.on("connect", () => (link.isOpen = true));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      const wasOpen = link.isOpen;
      link.isOpen = false;
      link.failedAt = performance.now();
      if (wasOpen && this.#links.get(target) === link) this.lost.emit(target);
    });
  }

  #accept(socket: Socket): void {
    this.#incoming.add(socket);
    const decoder = new StringDecoder("utf8");
    let rest = "";
    socket.unref();
    socket.on("error", () => undefined);
    socket.on("close", () => this.#incoming.delete(socket));
    socket.on("data", (bytes) => {
      const text = decoder.write(bytes);
      const end = text.lastIndexOf("\n");
      const lines = end < 0 ? [] : (rest + text.slice(0, end)).split("\n");
      rest = end < 0 ? rest + text : text.slice(end + 1);
      for (const line of lines) this.received.emit(line);
      if (rest.length > maxLineBytes) socket.destroy();
    });
  }

  #warn(what: string, error: Error): void {
    const facts = { event: "peer_link_failed", what, reason: error.message };
    this.#deps.log.warn(facts, "no link between processes, Redis carries their commands");
  }
}
