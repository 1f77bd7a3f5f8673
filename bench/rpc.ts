import { fork } from "node:child_process";
import { once } from "node:events";
import { sourceFlags } from "../test/support/programs.ts";
import { mayStart, stopsAtEnd } from "../test/support/cleanup.ts";

/** Every process answers this call once it has reached `serveCalls`. */
const ready = "ready";
const stopMs = 5_000;

export type Handlers = Record<string, (argument: never) => unknown>;

/** A process of the benchmark that answers calls by name; `H` is the type of its handlers. */
export interface Remote<H extends Handlers> {
  pid: number;
  call<N extends keyof H & string>(
    name: N,
    argument?: Parameters<H[N]>[0],
  ): Promise<Awaited<ReturnType<H[N]>>>;
  stop(): Promise<void>;
}

interface Call {
  id: number;
  name: string;
  argument: unknown;
}

interface Result {
  id: number;
  result?: unknown;
  error?: string;
}

interface Notice {
  notice: unknown;
}

/** Resolves when the process is ready. */
export async function startRemote<H extends Handlers>(
  file: URL,
  options: {
    args?: string[];
    env?: Record<string, string>;
    flags?: string[];
    /** Receives what the process sends on its own, by `notify`. */
    onNotice?: (notice: unknown) => void;
  } = {},
): Promise<Remote<H>> {
  const { args = [], env = {}, flags = [], onNotice } = options;
  mayStart();
  const child = fork(file, args, {
    execArgv: [...sourceFlags, ...flags],
    env: { ...process.env, ...env },
  });
  const waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (e: Error) => void }
  >();
  let count = 0;
  const exited = once(child, "exit");
  const stop = stopsAtEnd(async () => {
    // It ends by itself when its parent is gone, unless it hangs.
    if (child.connected) child.disconnect();
    const hanging = setTimeout(() => child.kill("SIGKILL"), stopMs);
    if (child.exitCode === null && child.signalCode === null) await exited;
    clearTimeout(hanging);
  });
  child.on("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file.pathname} ended: ${code}`));
  });
  child.on("message", (message: Result | Notice) => {
    if ("notice" in message) return onNotice?.(message.notice);
    const { id, result, error } = message;
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(result as never);
    else one?.reject(new Error(error));
  });
  const call = (name: string, argument: unknown = null): Promise<never> => {
    const id = ++count;
    return new Promise((resolve, reject) => {
      if (!child.connected) return reject(new Error(`${file.pathname} has ended`));
      waiting.set(id, { resolve, reject });
      child.send({ id, name, argument } satisfies Call);
    });
  };
  await call(ready);
  return { pid: child.pid ?? 0, call, stop };
}

/** Sends something to the parent process that it did not call for. */
export const notify = (notice: unknown): void => void process.send?.({ notice } satisfies Notice);

/** Answers the calls of the parent process, and ends with it. */
export function serveCalls(handlers: Handlers): void {
  const all = new Map<string, Handlers[string]>(
    Object.entries({ ...handlers, [ready]: () => null }),
  );
  process.on("disconnect", () => process.exit(0));
  process.on("message", ({ id, name, argument }: Call) => {
    const run = async () => {
      const handler = all.get(name);
      if (!handler) throw new Error(`no handler of ${name}`);
      return handler(argument as never);
    };
    run().then(
      (result) => process.send?.({ id, result: result ?? null } satisfies Result),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        process.send?.({ id, error: message } satisfies Result);
      },
    );
  });
}
