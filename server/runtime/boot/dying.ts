import { closeSync, openSync, readSync } from "node:fs";

/** Of a `stat` (proc(5)): the process id, its name in brackets and some numbers, with room for the longest name. */
const head = Buffer.alloc(192);
/** After the name: the flags of the main thread, in which the system says that it is ending. */
const flagsField = 6;
const exiting = 0x4;
const lookMs = 20;

/**
 * Calls back when a process is certain to do nothing more, once. Its `exit` comes when the system has taken back its
 * memory, which takes a busy machine a quarter of a second; its main thread, which alone writes to sockets, ends
 * long before. Where the system does not tell of threads (no `/proc`), nothing is called.
 *
 * @returns ends the watch
 */
export function watchDying(pid: number, onDying: () => void): () => void {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, "r");
  } catch {
    return () => {};
  }
  const look = setInterval(() => {
    if (isRunning(file)) return;
    stop();
    onDying();
  }, lookMs).unref();
  let isStopped = false;
  const stop = () => {
    if (isStopped) return;
    isStopped = true;
    clearInterval(look);
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
    // No such process, where any other trouble says nothing of it.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
