import type { HttpResponse } from "./uws.ts";

/** The part of a uWebSockets response an event stream needs, and the abort signal of the kernel. */
export interface StreamResponse {
  raw: HttpResponse;
  /** One listener: the stream itself. */
  onClose(listener: () => void): void;
}
