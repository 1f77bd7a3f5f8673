import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { hash } from "node:crypto";
import type { WithFaults, WithLog, WithOrigin, WithRedis } from "../../../platform/capabilities.ts";

/**
 * Lifetime of an exhausted marker: until it expires, callers that accept stored questions do not call the generator.
 */
const restMs = 30_000;

/** Subject of a generator call. */
export interface Subject {
  category: string;
  difficulty: string;
  prompt: string | null;
  model: string | null;
}

type NegativeCacheDeps = WithRedis & WithLog & WithFaults & WithOrigin;

const keyOf = ({ category, difficulty, prompt, model }: Subject) =>
  `made-nothing:${hash("sha256", JSON.stringify([category, difficulty, prompt, model]), "base64url")}`;

/** Caches for all processes that the generator has nothing new for the subject. */
export async function markExhausted(deps: NegativeCacheDeps, subject: Subject): Promise<void> {
  try {
    await deps.redis.set(keyOf(subject), "1", "PX", restMs);
  } catch (error) {
    deps.log.warn(
      { event: "exhausted_marker_write_failed", reason: String(error) },
      "could not store the exhausted marker; the generator may be called again",
    );
    recordDegraded(deps, "exhausted-marker", error, deps.origin);
  }
}

/** True while the exhausted marker exists. Without Redis the answer is false, and the generator is called. */
export async function isExhausted(deps: NegativeCacheDeps, subject: Subject): Promise<boolean> {
  try {
    return (await deps.redis.exists(keyOf(subject))) === 1;
  } catch (error) {
    deps.log.warn(
      { event: "exhausted_marker_read_failed", reason: String(error) },
      "could not read the exhausted marker, calling the generator",
    );
    recordDegraded(deps, "exhausted-marker", error, deps.origin);
    return false;
  }
}
