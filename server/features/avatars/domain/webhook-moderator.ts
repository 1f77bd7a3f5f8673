import Type from "typebox";
import Value from "typebox/value";
import type { Config } from "../../../platform/config/config.ts";
import type { WithFaults, WithLog } from "../../../platform/capabilities.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { Fault } from "../../../platform/faults/fault.ts";
import { connectionFault, peerOf, statusFault } from "../../../platform/faults/http-fault.ts";
import { readWebhook, type Webhook } from "../../../platform/net/webhook.ts";
import { queueForReview, type Moderator, type ModerationDecision } from "./moderation.ts";

/** Timeout of a response. */
const limitMs = 15_000;
const maxAnswerBytes = 16 * 1024;
const unnamedReason = "The picture was not accepted.";

const VerdictBody = Type.Object({
  verdict: Type.Union([Type.Literal("approved"), Type.Literal("queued"), Type.Literal("rejected")]),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
});

/**
 * Calls a configured address: POST `{upload_id, media_type, image}` (base64), answered with `{verdict: approved |
 * queued | rejected, reason?}`. A retry for the same upload has the same `Idempotency-Key`. No other host is called
 * (S24, AV-05).
 */
export function createWebhookModerator(
  { AVATAR_MODERATION_URL }: Pick<Config, "AVATAR_MODERATION_URL">,
  deps: WithLog & WithFaults,
): Moderator {
  const webhook = readWebhook(AVATAR_MODERATION_URL);
  return {
    moderate: async ({ id, webp, origin }) => {
      try {
        return await ask(webhook, id, webp);
      } catch (error) {
        deps.log.warn(
          { event: "moderation_webhook_failed", upload: id, reason: String(error) },
          "no decision by webhook, picture sent to manual review",
        );
        recordDegraded(deps, "avatar-moderation", error, origin);
        return queueForReview("unavailable");
      }
    },
    state: () => "webhook",
    stop: () => undefined,
  };
}

async function ask(
  { url: target, headers }: Webhook,
  id: number,
  webp: Buffer,
): Promise<ModerationDecision> {
  const request: RequestInit = {
    method: "POST",
    redirect: "manual",
    signal: AbortSignal.timeout(limitMs),
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": `avatar-upload-${id}`,
      ...headers,
    },
    body: JSON.stringify({
      upload_id: id,
      media_type: "image/webp",
      image: webp.toString("base64"),
    }),
  };
  const broken = (error: unknown) => {
    throw connectionFault("moderation", target, error);
  };
  const response = await fetch(target, request).catch(broken);
  if (response.status !== 200) throw await statusFault("moderation", target, response);
  const text = await readText(response).catch(broken);
  const body = text === null ? null : valueOf(text);
  if (!Value.Check(VerdictBody, body))
    throw new Fault("moderation.malformed", {
      peer: peerOf(target),
      text: text ?? `more than ${maxAnswerBytes} bytes`,
    });
  const reason = body.verdict === "rejected" ? (body.reason ?? unnamedReason) : null;
  return { status: body.verdict, by: "webhook", reason: storable(reason), scores: null };
}

/** Postgres stores neither NUL nor lone surrogates. */
const storable = (text: string | null): string | null =>
  text?.replaceAll("\0", "").toWellFormed() ?? null;

/** Undefined for a text that is not JSON. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null for a response that is too long. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > maxAnswerBytes) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
