/**
 * A refusal or failure. `code` is the service's error code. With status 0 it is `network:unreachable`,
 * `network:timeout` or `network:broken_stream`, and it is unknown whether the request arrived. The service
 * is also unreachable if something else responds in its place; `cause` then contains that response.
 * `network:unreadable_stream` is final: the `fetch` of this runtime gives no readable body, which events need.
 */
export class EmberlineError extends Error {
  readonly status: number;
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Invalid fields. */
  readonly violations: readonly { propertyPath: string; title: string }[];

  constructor(
    status: number,
    code: string,
    message: string,
    detail: {
      params?: Record<string, unknown>;
      violations?: { propertyPath: string; title: string }[];
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = "EmberlineError";
    this.status = status;
    this.code = code;
    this.params = detail.params ?? {};
    this.violations = detail.violations ?? [];
  }

  /** When to retry, if the service said so. */
  get retryAfterMs(): number | null {
    const seconds = this.params["retry_after"];
    return typeof seconds === "number" && seconds >= 0 ? seconds * 1000 : null;
  }

  /**
   * True if the same call may succeed shortly: the service is unreachable, busy or rate limiting. A failed
   * question generation does not count, unless more questions are on the way, in which case the service
   * says when to retry. Maintenance lasts longer than a caller waits.
   */
  get isPassing(): boolean {
    if ([unreadableCode, "room:maintenance"].includes(this.code)) return false;
    if (this.status === 503)
      return this.code !== "generator:unavailable" || this.retryAfterMs !== null;
    return [0, 502, 504].includes(this.status) || this.code === "rate_limit:exceeded";
  }

  /** True if the seat, its token or the lobby no longer exists, so that a retry cannot help. */
  get isFinal(): boolean {
    return [401, 403, 404].includes(this.status);
  }
}

interface Envelope {
  version?: unknown;
  /** The status, repeated. */
  code?: unknown;
  meta?: unknown;
  body?: unknown;
  flash?: {
    errors?: { code: string; message: string; params?: Record<string, unknown> }[];
    violations?: { propertyPath: string; title: string }[];
  };
}

const unreadableCode = "network:unreadable_stream";

/** Events cannot arrive, however often the stream is opened. */
export function unreadableStream(): EmberlineError {
  const message = "The fetch of this runtime gives no readable body: pass one that does.";
  return new EmberlineError(0, unreadableCode, message);
}

/** A maintenance page may ask for an hour although the service is back in ten seconds. */
const mostAskedElsewhereS = 60;

/**
 * Reads a refusal. A refusal by a proxy or a firewall says nothing about the seat, the guest or the call,
 * so it counts as a temporary network failure.
 */
export function errorOf(response: Response, text: string): EmberlineError {
  const { status, headers } = response;
  const { flash } = parseEnvelope(text);
  const error = flash?.errors?.[0];
  const retryAfter = Number(headers.get("Retry-After") ?? Number.NaN);
  const isOwn = typeof error?.code === "string";
  const seconds = isOwn ? retryAfter : Math.min(retryAfter, mostAskedElsewhereS);
  const asked = Number.isFinite(seconds) ? { retry_after: seconds } : {};
  if (!isOwn) return unreachable(notOurs(status), asked);
  const violations = flash?.violations ?? [];
  const [first] = violations;
  const message = first ? `${first.propertyPath}: ${first.title}` : error.message;
  const params = { ...asked, ...error.params };
  return new EmberlineError(status, error.code, message, { params, violations });
}

export function unreachable(cause: unknown, params: Record<string, unknown> = {}): EmberlineError {
  const message = "The service cannot be reached.";
  return new EmberlineError(0, "network:unreachable", message, { cause, params });
}

export const notOurs = (status: number) =>
  new TypeError(`Something else answered in place of the service, with ${status}.`);

/** Anything may respond in place of the service. */
export function parseEnvelope(text: string): Envelope {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
