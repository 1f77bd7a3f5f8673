import { byteLength, isBare, isBodiless, type Output } from "../replies/output.ts";
import { addressText } from "../../platform/net/ip-addresses.ts";
import { reasonOf } from "../replies/reason.ts";
import type { FormPart } from "../pipeline/form.ts";
import type { AddressReader, ClientAddress } from "../pipeline/client-address.ts";
import { RequestContext } from "../pipeline/request-context.ts";
import type { StreamResponse } from "./stream-response.ts";
import { isShort, sendInPieces } from "./pieces.ts";
import { getParts, type HttpResponse } from "./uws.ts";

/** A request of the public listener, served by uWebSockets. */
export class UwsContext extends RequestContext {
  readonly raw: HttpResponse;
  readonly #addressOf: AddressReader;

  constructor(
    raw: HttpResponse,
    method: string,
    path: string,
    query: string,
    workerPort: number | null,
    onComplete: () => void,
    addressOf: AddressReader,
  ) {
    super(method, path, query, workerPort, onComplete);
    this.raw = raw;
    this.#addressOf = addressOf;
  }

  protected readAddress(): ClientAddress {
    const peer = addressText(this.raw.getRemoteAddressAsText());
    return this.#addressOf(peer, this.headers["x-forwarded-for"]);
  }

  send(output: Output): void {
    this.raw.cork(() => this.#write(output));
    // uWebSockets cannot end a response without a body and close its connection in one call.
    if (this.mustClose && isBodiless(this.method, output.status)) this.raw.close();
  }

  openStream(head: string, open: (response: StreamResponse) => void): void {
    const { raw } = this;
    raw.cork(() => {
      raw.writeHeader("X-Request-Id", head);
    });
    // Replaces the abort listener of the request: the stream lives far longer.
    open({ raw, onClose: (listener) => void raw.onAborted(listener) });
  }

  partsOf(body: Uint8Array, contentType: string): readonly FormPart[] {
    return getParts(body, contentType) ?? [];
  }

  /**
   * Status and headers in one piece: one call into the server for each header takes 8 % more processor time of a pick
   * and of a short GET (`npm run bench -- floor http`). A response that closes the connection is never written inside the
   * server's callback (see `UwsServer.run`), which would serve the rest of the packet.
   */
  #write({ status, head, payload }: Output): void {
    const { raw, mustClose } = this;
    const lines = `${status} ${reasonOf(status)}\r\nX-Request-Id: ${head}`;
    if (isBodiless(this.method, status)) {
      const length = isBare(status) ? "" : `\r\nContent-Length: ${byteLength(payload)}`;
      if (mustClose) return void raw.writeStatus(`${lines}${length}\r\nConnection: close\r\n`);
      raw.writeStatus(lines + length);
      // uWebSockets takes any argument here, even undefined, as the length of a body to wait for.
      raw.endWithoutBody();
      return;
    }
    const body = payload ?? "";
    if (isShort(body)) {
      raw.writeStatus(lines);
      raw.end(body, mustClose);
    } else {
      raw.writeStatus(mustClose ? `${lines}\r\nConnection: close` : lines);
      sendInPieces(this, body);
    }
  }
}
