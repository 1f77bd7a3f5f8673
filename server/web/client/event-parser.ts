import { EmberlineError } from "./errors.ts";

/** Maximum size of an event; the complete public list is far smaller. */
export const maxEventChars = 4_194_304;

/** A frame without data only advances the id: an event that this subscriber may not see. */
export interface Frame {
  id: string | null;
  event: string;
  data: string;
}

interface Parsed {
  frames: Frame[];
  retryMs: number | null;
}

/** Parses an event stream chunk by chunk; throws if an event exceeds the limit. */
export function createEventParser(maxChars: number = maxEventChars): (text: string) => Parsed {
  let rest = "";
  let frame: Frame = { id: null, event: "message", data: "" };
  const readLine = (line: string, parsed: Parsed): void => {
    if (line === "") {
      if (frame.data !== "" || frame.id !== null)
        parsed.frames.push({ ...frame, data: frame.data.slice(0, -1) });
      frame = { id: null, event: "message", data: "" };
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id" && !value.includes("\0")) frame.id = value;
    if (name === "event") frame.event = value;
    if (name === "data") frame.data += `${value}\n`;
    if (name === "retry" && /^\d{1,9}$/.test(value)) parsed.retryMs = Number(value);
  };
  return (text) => {
    const parsed: Parsed = { frames: [], retryMs: null };
    // A carriage return at the very end may be the first half of a line break.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) readLine(line, parsed);
    if (rest.length + frame.data.length > maxChars) throw brokenStream("An event is too large.");
    return parsed;
  };
}

export const brokenStream = (message: string, cause?: unknown) =>
  new EmberlineError(0, "network:broken_stream", message, { cause });
