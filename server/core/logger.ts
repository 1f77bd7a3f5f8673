import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import type { Config } from "./config.ts";
import { LineBuffer, type BlockOutput } from "./line-buffer.ts";
import { thinComplaints } from "./thinned-log.ts";

export type Logger = PinoLogger;

/** Keys whose values never reach a log line, wherever an object is logged (promise S27). */
const secretKeys = [
  "password",
  "new_password",
  "current_password",
  "token",
  "access_token",
  "refresh_token",
  "reclaim_token",
  "reclaimToken",
  "player_token",
  "passport",
  "code",
  "email",
  "phone",
  "authorization",
  "cookie",
  "set-cookie",
  "x-lobby-token",
  "x-api-key",
];

/** Bytes that wait for whoever reads standard output, in each process: a reader that stands still must cost no more. */
const maxWaitingBytes = 4 * 1024 * 1024;
let droppedBytes = 0;

/** Bytes of lines this process has dropped, because nobody took them from standard output. */
export const droppedLogBytes = (): number => droppedBytes;

/** Lines for standard output, written by another thread. */
export function openLines(fd = 1, maxLength = maxWaitingBytes): LineBuffer {
  const output = pino.destination({
    dest: fd,
    sync: false,
    contentMode: "buffer",
    // Each block is written at once; with 0 the library would not say when.
    minLength: 1,
    maxLength,
  });
  output.on("drop", (block: Buffer) => {
    droppedBytes += block.length;
  });
  const lines = new LineBuffer(output as unknown as BlockOutput);
  // The library closes its output once the process has nothing left to do.
  const isOpen = () => !(output as unknown as { destroyed: boolean }).destroyed;
  process.on("beforeExit", () => isOpen() && lines.send());
  process.on("exit", () => isOpen() && lines.flushSync());
  return lines;
}

/** Where a line goes that is put together by hand: to the lines of the log, or of its own on the way to the same output. */
export function linesOf(log: Logger): LineBuffer {
  const output = (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym];
  if (output instanceof LineBuffer) return output;
  return new LineBuffer({ write: (block) => output?.write(block.toString("utf8")) });
}

/** One JSON object per line on standard output, at most 50 ms late. */
export function createLogger(
  config: Config,
  process: string,
  destination: DestinationStream = openLines(),
): Logger {
  const level = config.LOG_LEVEL || (config.APP_ENV === "development" ? "warn" : "info");
  return pino(
    {
      level,
      base: { process },
      hooks: thinComplaints(),
      redact: {
        paths: secretKeys.flatMap((key) => [`["${key}"]`, `*["${key}"]`]),
        censor: "[redacted]",
      },
    },
    destination,
  );
}

export const silentLogger: Logger = pino({ level: "silent" });
