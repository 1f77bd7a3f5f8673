import { closeSync, openSync, readSync } from "node:fs";

/** Of a `statm` (proc(5)): the size of the memory, in the first place. */
const head = Buffer.alloc(32);
const zero = 0x30;
const pollMs = 20;

/**
 * Calls back once, as soon as a process is exiting and can do nothing more. Its `exit` comes when the system has taken back its
 * memory, which takes a busy machine a quarter of a second; its main thread, which alone writes to sockets, leaves
 * the memory long before, and the system tells nobody. Without `/proc` there is no callback.
 *
 * @returns stops watching
 */
export function watchExit(pid: number, onExiting: () => void): () => void {
  let file: number;
  try {
    // Of all files there the one that costs least to read.
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
