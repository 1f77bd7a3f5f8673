import { performance } from "node:perf_hooks";
import type { Clock } from "../../platform/time/clock.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { pieceBytes, type Body } from "./output.ts";
import { serviceVersion } from "../../platform/version.ts";
import { reasonOf } from "./reason.ts";

/** Writes response envelopes around finished JSON text (ENV-01..ENV-04). */
export class EnvelopeWriter {
  readonly #clock: Clock;
  readonly #fixed: string;

  constructor(config: Config, clock: Clock) {
    this.#clock = clock;
    this.#fixed = `"env":${JSON.stringify(config.APP_ENV)},"debug":${config.APP_DEBUG}`;
  }

  /** Everything before the payload; `meta` is the text of `metaText`, times are `performance.now()`. */
  open(status: number, startedAt: number, meta: string): string {
    const seconds = Math.max(0, (performance.now() - startedAt) / 1000).toFixed(6);
    const head = `"version":${version},"code":${status},"status":${JSON.stringify(reasonOf(status))}`;
    const time = timestamp(this.#clock.now());
    return `{${head},${this.#fixed},"elapsed":${seconds},"timestamp":"${time}","meta":${meta}`;
  }
}

const version = JSON.stringify(serviceVersion);

export function metaText(method: string, path: string): string {
  return `{"method":${JSON.stringify(method)},"path":${JSON.stringify(path)}}`;
}

/** Joins a payload with the text around it; long byte payloads are passed on without a copy. */
export function splice(before: string, json: string | Uint8Array, after: string): Body {
  if (typeof json === "string") return before + json + after;
  const parts = [Buffer.from(before), json, Buffer.from(after)];
  return json.length > pieceBytes ? parts : Buffer.concat(parts);
}
