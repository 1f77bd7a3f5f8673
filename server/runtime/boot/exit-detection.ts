import { closeSync, openSync, readSync } from "node:fs";

/** Of a `stat` (proc(5)): the process id, its name in brackets and some numbers, with room for the longest name. */
const head = Buffer.alloc(192);
/** After the name: the flags of the main thread, in which the system says that it is ending. */
const flagsField = 6;
const exiting = 0x4;
const pollMs = 20;

/**
 * Calls back once, as soon as a process is exiting and can do nothing more. Its `exit` comes when the system has taken back its
 * memory, which takes a busy machine a quarter of a second; its main thread, which alone writes to sockets, ends
 * long before. Without `/proc` there is no callback.
 *
 * @returns stops watching
 */
export function watchExit(pid: number, onExiting: () => void): () => void {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, "r");
  } catch {
    return () => {};
  }
  const poll = setInterval(() => {
    if (isRunning(file)) return;
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

function isRunning(stat: number): boolean {
  try {
    const text = head.toString("latin1", 0, readSync(stat, head, 0, head.length, 0));
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[flagsField]) & exiting) === 0;
  } catch (error) {
    // Only ESRCH proves that the process is gone.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
