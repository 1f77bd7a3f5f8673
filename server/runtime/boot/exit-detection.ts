import { closeSync, openSync, readSync } from "node:fs";

/** Start of a `statm` (proc(5)); its first field is the size of the memory. */
const head = Buffer.alloc(32);
const zero = 0x30;
/** Each check wakes up the primary; a takeover, which then takes about 50 ms, can wait for the next one. */
const pollMs = 20;

/**
 * Calls back once, as soon as a process is exiting and can do nothing more. Its `exit` event comes only
 * after the system has reclaimed its memory, which takes a quarter of a second on a busy machine. Its main
 * thread, which alone writes to sockets, releases the memory long before, without any notification. Without
 * `/proc` there is no callback.
 * @returns stops watching
 */
export function watchExit(pid: number, onExiting: () => void): () => void {
  let file: number;
  try {
    // The cheapest file there to read.
    file = openSync(`/proc/${pid}/statm`, "r");
  } catch {
    return () => {};
  }
  const poll = setInterval(() => {
    if (hasMemory(file)) return;
    stop();
    onExiting();
  }, pollMs).unref();
  let isStopped = false;
  const stop = () => {
    if (isStopped) return;
    isStopped = true;
    clearInterval(poll);
    closeSync(file);
  };
  return stop;
}

function hasMemory(statm: number): boolean {
  try {
    return readSync(statm, head, 0, head.length, 0) > 0 && head[0] !== zero;
  } catch (error) {
    // Only ESRCH proves that the process is gone.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
