import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Dump } from "./dump.ts";
import type { RecordedResponses } from "./story.ts";

export const storedFile = join(import.meta.dirname, "stored/release.json.gz");

/** Settings of the release, with which its successor continues. */
export const storySettings = {
  APP_ENV: "development",
  // Used in tests only.
  APP_SECRET: "a secret of the recorded release, known to everybody",
  PUBLIC_BASE_URL: "http://auth.example",
  OPERATOR_LISTEN: "127.0.0.1:0",
  HTTP_WORKERS: "1",
  SAMPLE_DATA: "false",
  RATE_LIMIT_FACTOR: "0",
  LOG_LEVEL: "warn",
  MAIL_DRIVER: "memory",
};

export interface Stored {
  /** When the release was stopped, in milliseconds since the epoch. */
  recordedAt: number;
  told: RecordedResponses;
  dump: Dump;
}

export const readStored = (): Stored =>
  JSON.parse(gunzipSync(readFileSync(storedFile)).toString("utf8")) as Stored;
