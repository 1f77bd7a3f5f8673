import { fork } from "node:child_process";
import { once } from "node:events";
import { sourceFlags } from "../test/support/programs.ts";

/** Requests that one keep-alive connection sends repeatedly, one at a time. */
export interface Job {
  /** Complete HTTP request as text. */
  request: string;
  /** Values of `{value}` in the request, used in rotation. */
  values?: readonly string[];
  /**
   * Cookie of the first request, inserted at `cookieHole`; later requests send the cookie of the previous
   * response.
   */
  cookie?: string;
}

export const cookieHole = "@cookie";

export interface LoadResult {
  requests: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Number of responses by status. */
  statuses: Record<string, number>;
}

export interface Generator {
  /** `X-Request-Id` that each connection got for its first GET; the prefix identifies the serving process. */
  requestIds: string[];
  /** `perSecond` paces all connections together; without it each sends as soon as it has its response. */
  run(jobs: Job[], seconds: number, perSecond?: number): Promise<LoadResult>;
  close(): void;
}

/** Opens connections from a separate process, so that generating load does not use the server's process. */
export async function openGenerator(
  host: string,
  port: number,
  connections: number,
): Promise<Generator> {
  const child = fork(
    new URL("./load-process.ts", import.meta.url),
    [host, String(port), String(connections)],
    {
      execArgv: [...sourceFlags],
    },
  );
  const answer = async <T>(): Promise<T> => {
    const ended = new AbortController();
    const onExit = () => ended.abort(new Error("the load generator ended before its answer"));
    child.once("exit", onExit);
    try {
      const [message] = (await once(child, "message", { signal: ended.signal })) as [T];
      return message;
    } catch (error) {
      throw ended.signal.aborted ? ended.signal.reason : error;
    } finally {
      child.off("exit", onExit);
    }
  };
  return {
    requestIds: await answer<string[]>(),
    run(jobs, seconds, perSecond) {
      child.send({ jobs, seconds, perSecond });
      return answer<LoadResult>();
    },
    close: () => child.kill(),
  };
}

export function requestText(
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown; text?: string } = {},
): string {
  const body = options.text ?? (options.body === undefined ? "" : JSON.stringify(options.body));
  const headers: Record<string, string> = { host: "bench", ...options.headers };
  if (body !== "") headers["content-type"] = "application/json";
  if (method !== "GET") headers["content-length"] = String(Buffer.byteLength(body));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
