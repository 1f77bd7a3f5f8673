import { once } from "node:events";
import type { Readable } from "node:stream";
import type { LogOutput } from "../../platform/log/log-output.ts";

const lineFeed = 0x0a;
/** Bytes buffered of an incomplete line; a longer line is passed on in parts. */
const maxPartBytes = 1024 * 1024;

/** Longest collected text, in characters; a longer one is passed on in parts. */
const maxText = 16_384;
/** A stack arrives in several pieces within this time. */
const collectMs = 50;

/** Joins what a process writes within a moment, so that a stack is one text. */
export function collectText(source: Readable, receive: (text: string) => void): void {
  let text = "";
  let timer: NodeJS.Timeout | null = null;
  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    const collected = text.trim();
    text = "";
    if (collected !== "") receive(collected);
  };
  source.setEncoding("utf8");
  source.on("data", (chunk: string) => {
    text += chunk;
    if (text.length >= maxText) flush();
    else timer ??= setTimeout(flush, collectMs);
  });
  source.once("close", flush);
}

/**
 * Passes on complete lines of a process. Several processes that write to one pipe would interleave their
 * lines whenever it is full. They could avoid that only with a thread that waits for the reader: a fork of
 * Node makes a shared pipe blocking again (`flags` of /proc/<pid>/fdinfo/1 lose O_NONBLOCK), and such a
 * thread keeps its process from ending. Reads no faster than `lines` accepts data. Resolves when the
 * process has no more output; an incomplete last line of a killed process is dropped.
 */
export async function passLines(
  source: Readable,
  lines: Pick<LogOutput, "forward" | "onceDrained">,
): Promise<void> {
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer) => {
    parts.push(part);
    length += part.length;
  };
  const pass = () => {
    const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    parts = [];
    length = 0;
    if (whole === undefined || lines.forward(whole)) return;
    source.pause();
    lines.onceDrained(() => source.resume());
  };
  source.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      keep(chunk.subarray(0, end));
      pass();
    }
    if (end < chunk.length) keep(chunk.subarray(end));
    if (length > maxPartBytes) pass();
  });
  await once(source, "close").catch(() => undefined);
}
