import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { pino } from "pino";
import type { BlockOutput } from "./line-buffer.ts";

/** Bytes that wait for whoever reads, in each process: a reader that stands still must cost no more. */
const maxWaitingBytes = 4 * 1024 * 1024;
let droppedBytes = 0;

/** Bytes of lines this process has dropped, because nobody took them from standard output. */
export const droppedLogBytes = (): number => droppedBytes;

const drop = (block: Buffer) => void (droppedBytes += block.length);

/** Where blocks of lines go; what does not fit into `maxWaiting` bytes is dropped and counted. */
export function openOutput(fd: number, maxWaiting = maxWaitingBytes): BlockOutput {
  if (fstatSync(fd).isFile()) return toFile(fd, maxWaiting);
  const stream =
    fd === process.stdout.fd ? process.stdout : new Socket({ fd, readable: false, writable: true });
  return toStream(stream, maxWaiting);
}

/** A disk may make its writer wait, so another thread writes. */
function toFile(fd: number, maxLength: number): BlockOutput {
  const file = pino.destination({
    dest: fd,
    sync: false,
    contentMode: "buffer",
    // Each block is written at once; with 0 the library would not say when.
    minLength: 1,
    maxLength,
  });
  file.on("drop", drop);
  // The library closes its output once the process has nothing left to do.
  const isOpen = () => !(file as unknown as { destroyed: boolean }).destroyed;
  return {
    write: (block) => {
      if (isOpen()) (file as unknown as BlockOutput).write(block);
      return true;
    },
    flush: (done) => file.flush(done),
    flushSync: () => isOpen() && file.flushSync(),
  };
}

/**
 * A pipe takes what it has room for; the rest waits here, where a thread that waits for a reader would keep the
 * process from ending.
 */
function toStream(stream: Writable, maxWaiting: number): BlockOutput {
  let isGone = false;
  let waiting: (() => void)[] = [];
  const goOn = () => {
    const all = waiting;
    waiting = [];
    for (const work of all) work();
  };
  stream.on("drain", goOn);
  stream.on("error", () => {
    isGone = true;
    goOn();
  });
  return {
    write(block) {
      if (isGone || stream.writableLength + block.length > maxWaiting) drop(block);
      else stream.write(block);
      return isGone || !stream.writableNeedDrain;
    },
    onceDrained: (work) => void waiting.push(work),
    flush: (done) => void (isGone ? done() : stream.write("", () => done())),
  };
}
