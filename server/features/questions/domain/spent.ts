import { hash } from "node:crypto";
import type { JobDeps } from "../../../app/deps.ts";

/** How long a generator that had nothing new is left alone by those whom something stored serves as well. */
const restMs = 30_000;

/** What a generator is asked for. */
export interface Subject {
  category: string;
  difficulty: string;
  prompt: string | null;
  model: string | null;
}

type SpentDeps = Pick<JobDeps, "redis" | "log">;

const keyOf = ({ category, difficulty, prompt, model }: Subject) =>
  `made-nothing:${hash("sha256", JSON.stringify([category, difficulty, prompt, model]), "base64url")}`;

/** Remembers for everybody that the generator had nothing new of the subject. */
export async function noteSpent({ redis, log }: SpentDeps, subject: Subject): Promise<void> {
  try {
    await redis.set(keyOf(subject), "1", "PX", restMs);
  } catch (error) {
    log.warn({ reason: String(error) }, "not remembered that nothing new was made");
  }
}

/** True when nothing new could be had of late. Without the store nobody knows, and the generator is asked. */
export async function isSpent({ redis, log }: SpentDeps, subject: Subject): Promise<boolean> {
  try {
    return (await redis.exists(keyOf(subject))) === 1;
  } catch (error) {
    log.warn({ reason: String(error) }, "unknown whether something new can be made");
    return false;
  }
}
