import { performance } from "node:perf_hooks";
import packageJson from "../../package.json" with { type: "json" };
import type { Clock } from "../core/clock.ts";
import { timestamp } from "../core/clock.ts";
import type { Config } from "../core/config.ts";
import { pieceBytes, type Body } from "./pieces.ts";
import { reasonOf } from "./reason.ts";

/** Version of the service, as answered in every response envelope (ENV-02). */
export const serviceVersion: string = packageJson.version;

/**
 * Writes response envelopes around finished JSON text (ENV-01..ENV-04).
 * The parts that stay the same are kept: everything up to `elapsed` per status, the time per second.
 */
export class EnvelopeWriter {
  private readonly clock: Clock;
  private readonly fixed: string;
  private readonly heads = new Map<number, string>();
  private second = -1;
  private secondText = "";

  constructor(config: Config, clock: Clock) {
    this.clock = clock;
    this.fixed = `"env":${JSON.stringify(config.APP_ENV)},"debug":${config.APP_DEBUG},"elapsed":`;
  }

  /** Everything before the payload; `meta` is the text of `metaText`, times are `performance.now()`. */
  open(status: number, startedAt: number, meta: string): string {
    const micros = Math.max(0, Math.round((performance.now() - startedAt) * 1000));
    return `${this.head(status)}${secondsText(micros)}${this.time()}${meta}`;
  }

  private head(status: number): string {
    const known = this.heads.get(status);
    if (known !== undefined) return known;
    const reason = JSON.stringify(reasonOf(status));
    const text = `{"version":${JSON.stringify(serviceVersion)},"code":${status},"status":${reason},${this.fixed}`;
    this.heads.set(status, text);
    return text;
  }

  private time(): string {
    const now = this.clock.now();
    const second = Math.floor(now / 1000);
    if (second !== this.second) {
      this.second = second;
      this.secondText = `,"timestamp":"${timestamp(now)}","meta":`;
    }
    return this.secondText;
  }
}

const thousandths = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, "0"));

/** Microseconds as seconds; to write a fraction as a number takes three times as long. */
function secondsText(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const seconds = Math.floor(millis / 1000);
  return `${seconds}.${thousandths[millis - seconds * 1000]}${thousandths[micros - millis * 1000]}`;
}

export function metaText(method: string, path: string): string {
  return `{"method":${JSON.stringify(method)},"path":${JSON.stringify(path)}}`;
}

/** Puts text or bytes between two texts; a string stays a string, and long bytes where they are: nothing is copied. */
export function splice(before: string, json: string | Uint8Array, after: string): Body {
  if (typeof json === "string") return before + json + after;
  const parts = [Buffer.from(before), json, Buffer.from(after)];
  return json.length > pieceBytes ? parts : Buffer.concat(parts);
}
