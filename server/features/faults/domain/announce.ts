import { createHmac } from "node:crypto";
import type { WithClock, WithConfig, WithEm, WithRedis } from "../../../platform/capabilities.ts";
import { connectionFault, statusFault } from "../../../platform/faults/http-fault.ts";
import { operatorUrl } from "../../../platform/net/addresses.ts";
import { readWebhook } from "../../../platform/net/webhook.ts";
import { timestamp } from "../../../platform/time/clock.ts";
import { AlertMemory } from "./alert-memory.ts";
import { alertArea, beganAt, dueAlerts, type Alert } from "./alerts.ts";
import { listFailures } from "./failures.ts";
import { createFaultStore } from "./fault-store.ts";
import { numLastHour } from "./states.ts";

export type AnnounceDeps = WithConfig & WithClock & WithEm & WithRedis;

/** Longest wait for one response. */
const sendLimitMs = 5_000;
/** One run holds back other tasks of its queue no longer than this and one send. */
const runLimitMs = 15_000;
/** Groups that began earlier than this before the first look are old: nobody is called because of a new setting. */
export const lookBackMs = 5 * 60_000;

/**
 * Announces groups of failures that are new or open again, each once, to OPERATOR_WEBHOOK_URL (OPS-84). States are
 * computed when they are read, so this looks at all groups and compares with what was announced: no crash between an
 * occurrence and its announcement loses one. Throws the first fault, after which the job is run again.
 */
export async function announceFailures(deps: AnnounceDeps): Promise<void> {
  const { config, clock, redis } = deps;
  if (config.OPERATOR_WEBHOOK_URL === "") return;
  const startMs = clock.now();
  const store = createFaultStore(redis, clock);
  const { failures } = await listFailures({ store, clock, em: async () => deps.em });
  const memory = new AlertMemory(redis);
  const { announced, isFirst } = await memory.read();
  const kept = new Set(failures.map(({ id }) => id));
  await memory.forget([...announced.keys()].filter((id) => !kept.has(id)));
  const due = dueAlerts(failures, announced);
  const isOld = (alert: Alert) => isFirst && beganAt(alert) < startMs - lookBackMs;
  for (const { failure, episode } of due.filter(isOld)) await memory.add(failure.id, episode.name);
  if (isFirst) await memory.begin(startMs);
  const alerts = due.filter((alert) => !isOld(alert));
  let failed: unknown = null;
  for (const [at, alert] of alerts.entries()) {
    if (clock.now() - startMs > runLimitMs || !(await memory.take(clock.now()))) break;
    try {
      await send(deps, alert, alerts.length - at - 1);
      await memory.add(alert.failure.id, alert.episode.name);
    } catch (error) {
      // The receiver may refuse one of them only.
      failed ??= error;
    }
  }
  if (failed !== null) throw failed;
}

async function send({ config, clock }: AnnounceDeps, alert: Alert, numMore: number): Promise<void> {
  const { url, headers } = readWebhook(config.OPERATOR_WEBHOOK_URL);
  const { failure, episode } = alert;
  const body = JSON.stringify(bodyOf(alert, numMore, operatorUrl(config)));
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    signal: AbortSignal.timeout(sendLimitMs),
    headers: {
      ...headers,
      ...signatureOf(config.OPERATOR_WEBHOOK_SECRET, body, clock.now()),
      "Content-Type": "application/json",
      "Idempotency-Key": `${failure.id} ${episode.name}`,
    },
    body,
  }).catch((error: unknown) => {
    throw connectionFault(alertArea, url, error);
  });
  if (!response.ok) throw await statusFault(alertArea, url, response);
  // Only the status of a success is read.
  await response.body?.cancel();
}

/** The texts of a group were masked when they were recorded (S27). */
function bodyOf({ failure, episode }: Alert, numMore: number, base: string) {
  const { id, key, state, firstMs, lastMs, total, numPlayers, numJobs } = failure;
  return {
    event: episode.kind,
    id,
    ...{ kind: key.kind, place: key.place, code: key.code, peer: key.peer, status: key.status },
    ...{ name: key.name, text: key.text, state },
    first_seen_at: timestamp(firstMs),
    last_seen_at: timestamp(lastMs),
    num_occurrences: total,
    num_last_hour: numLastHour(failure),
    num_players: numPlayers,
    num_failed_jobs: numJobs,
    num_more: numMore,
    url: `${base}/operator/failures/${id}`,
  };
}

/** HMAC-SHA-256 of `<seconds>.<body>`: a receiver can refuse what is forged or old. */
function signatureOf(secret: string, body: string, nowMs: number): Record<string, string> {
  if (secret === "") return {};
  const seconds = Math.floor(nowMs / 1_000);
  const digest = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return { "X-Emberline-Signature": `t=${seconds},v1=${digest}` };
}
