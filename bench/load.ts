import { fork } from "node:child_process";
import { once } from "node:events";
import { sourceFlags } from "../test/support/programs.ts";

/** What one keep-alive connection sends, over and over, one request at a time. */
export interface Job {
  /** Whole HTTP request as text. */
  request: string;
  /** What stands for `{value}` in the request, turn by turn; after the last comes the first again. */
  values?: readonly string[];
  /** Cookie of the first request, in place of `cookieHole`; each later one sends what the last answer set. */
  cookie?: string;
}

export const cookieHole = "@cookie";

export interface LoadResult {
  requests: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Status -> answers. */
  statuses: Record<string, number>;
}

export interface Generator {
  /** `X-Request-Id` each connection got for a first GET: its prefix names the process that serves it. */
  requestIds: string[];
  /** `perSecond` paces all connections together; without it each sends as soon as it has its answer. */
  run(jobs: Job[], seconds: number, perSecond?: number): Promise<LoadResult>;
  close(): void;
}

/** Opens connections from a process of its own, so that making load costs the server's process nothing. */
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
