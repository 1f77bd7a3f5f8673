import type { ServerResponse } from "node:http";
import type { ClientAddress } from "../pipeline/client-address.ts";
import { RequestContext } from "../pipeline/request-context.ts";
import type { FormPart } from "../pipeline/form.ts";
import { byteLength, isBare, isBodiless, type Body, type Output } from "../replies/output.ts";

/** A request served by `node:http`. */
export class NodeContext extends RequestContext {
  readonly raw: ServerResponse;
  protected readonly readAddress: () => ClientAddress;

  constructor(
    raw: ServerResponse,
    method: string,
    path: string,
    query: string,
    readAddress: () => ClientAddress,
  ) {
    super(method, path, query, null, () => {});
    this.raw = raw;
    this.readAddress = readAddress;
  }

  send({ status, head, payload }: Output): void {
    const lines = headLines(head);
    if (!isBare(status)) lines.push("Content-Length", String(byteLength(payload)));
    if (this.mustClose) lines.push("Connection", "close");
    this.raw.writeHead(status, lines);
    this.raw.end(isBodiless(this.method, status) ? undefined : bytesOf(payload ?? ""));
  }

  openStream(): never {
    throw new Error("this transport has no event streams");
  }

  partsOf(): readonly FormPart[] {
    throw new Error("this transport takes no files");
  }
}

/** Names and values in turn. Node writes values as Latin-1; this keeps the bytes of their UTF-8. */
function headLines(head: string): string[] {
  const [id = "", ...lines] = head.split("\r\n");
  const pairs = lines.map((line) => {
    const at = line.indexOf(": ");
    return [line.slice(0, at), Buffer.from(line.slice(at + 2)).toString("latin1")];
  });
  return ["X-Request-Id", id, ...pairs.flat()];
}

const bytesOf = (body: Body): string | Uint8Array =>
  Array.isArray(body)
    ? Buffer.concat(body as readonly Uint8Array[])
    : (body as string | Uint8Array);
