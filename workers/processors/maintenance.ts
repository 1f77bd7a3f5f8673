import { noOrigin } from "../../server/platform/origin.ts";
import { UnrecoverableError } from "bullmq";
import { cleanArchive } from "../../db/queries/archive/codex-cleanup.ts";
import {
  listOrphanedRequests,
  purgeCredentials,
} from "../../db/queries/sessions/credential-requests.ts";
import { purgeAccounts } from "../../db/queries/accounts/accounts.ts";
import { purgeCodes } from "../../db/queries/accounts/phone-codes.ts";
import { purgeReplaced } from "../../db/queries/verification/replaced-addresses.ts";
import { endTeamsOfCleared } from "../../db/queries/teams/teams.ts";
import { endIdleSessions } from "../../db/queries/runs/play-sessions.ts";
import { tidyAvatars, type TidyAvatarsDeps } from "./tidy-avatars.ts";
import {
  expireMessages,
  listOrphaned,
  purgeMessages,
  purgeUnverified,
} from "../../db/queries/delivery/messages.ts";
import {
  markNotified,
  takePendingCollisions,
} from "../../db/queries/accounts/address-collisions.ts";
import { postMessages, writeMessage } from "../../server/features/delivery/domain/send.ts";
import type { CredentialDeps } from "./credential-requests.ts";
import { leaseMs } from "../../server/features/delivery/domain/deliver.ts";
import type { WithClock, WithEm, WithLog } from "../../server/platform/capabilities.ts";
import { requeueActions } from "../../server/features/faults/domain/actions.ts";
import {
  announceFailures,
  type AnnounceDeps,
} from "../../server/features/faults/domain/announce.ts";
import { idleSince } from "../../server/features/runs/domain/sessions.ts";
import {
  reconcileLedger,
  type ReconciliationDeps,
} from "../../server/features/wallet/domain/reconciliation.ts";
import { reconcileProjection, type ReconcileDeps } from "./projection-rebuild.ts";
import {
  tidyChallenges,
  tidyLeaderboards,
  type TidyChallengesDeps,
  type TidyLeaderboardsDeps,
} from "./leaderboards.ts";
import {
  credentialRequests,
  mail,
  type maintenance,
  type PayloadOf,
  type WithEnqueue,
} from "../queues.ts";

const dayMs = 86_400_000;
/** A message still waiting this long after its usual attempts has lost its job. */
const orphanedAfterMs = 4 * 60_000;
const maxOrphaned = 500;
/** Retention of messages and unverified addresses; of the inbox only the newest are kept. */
const keptMs = 30 * dayMs;
const maxInbox = 1_000;

/** A closed account can be reopened within this time; then its data is deleted (USR-09). */
const closedMs = 30 * dayMs;
const maxPurged = 500;

export interface MaintenanceDeps
  extends
    AnnounceDeps,
    CredentialDeps,
    TidyAvatarsDeps,
    TidyLeaderboardsDeps,
    TidyChallengesDeps,
    ReconcileDeps,
    ReconciliationDeps {}

/** Tasks by name; each may run twice and concurrently. */
const tasks: Readonly<Record<string, ((deps: MaintenanceDeps) => Promise<unknown>) | undefined>> = {
  messages: tidyMessages,
  credentials: tidyCredentials,
  accounts: tidyAccounts,
  avatars: tidyAvatars,
  wallets: (deps) => reconcileLedger(deps),
  archive: tidyArchive,
  projection: reconcileProjection,
  boards: tidyLeaderboards,
  challenges: tidyChallenges,
  "play-sessions": endSessions,
  "group-actions": requeueActions,
  alerts: announceFailures,
};

export async function maintain(
  { task }: PayloadOf<typeof maintenance>,
  deps: MaintenanceDeps,
): Promise<void> {
  const work = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
  if (!work) throw new UnrecoverableError("no such task");
  await work(deps);
}

/** Queues messages whose job was lost, ends expired messages, deletes old ones. */
async function tidyMessages(deps: CredentialDeps): Promise<void> {
  const { em } = deps;
  const now = deps.clock.now();
  const [at, before] = [new Date(now), new Date(now - keptMs)];
  await expireMessages(em, { now: at, leaseStart: new Date(now - leaseMs) });
  const orphaned = await listOrphaned(em, {
    before: new Date(now - orphanedAfterMs),
    limit: maxOrphaned,
  });
  // One new job per time span, however often this task runs within it.
  const round = Math.ceil(now / orphanedAfterMs);
  for (const { id: messageId, origin } of orphaned)
    await deps.enqueue(mail, { messageId, round }, origin);
  if (orphaned.length > 0)
    deps.log.warn(
      { event: "messages_requeued", count: orphaned.length },
      "messages without a job queued again",
    );
  await purgeMessages(em, { before, maxKept: maxInbox });
  await purgeUnverified(em, { now: at, before });
}

/** A request that has waited longer than this has lost its job. */
const requestOrphanedAfterMs = 60_000;

/** Queues requests whose job was lost, deletes used and expired credentials. */
async function tidyCredentials({
  em,
  clock,
  enqueue,
}: WithEm & WithClock & WithEnqueue): Promise<void> {
  const now = clock.now();
  const before = new Date(now - requestOrphanedAfterMs);
  const round = Math.ceil(now / requestOrphanedAfterMs);
  for (const requestId of await listOrphanedRequests(em, { before, limit: maxOrphaned }))
    await enqueue(credentialRequests, { requestId, round }, noOrigin);
  await purgeCredentials(em, { now: new Date(now), before: new Date(now - dayMs) });
}

/** Maximum batches of the archive's clean-up in one run; the next run does the rest. */
const maxBatches = 50;

/** Deletes unreferenced archive data that replaced patches left behind. */
async function tidyArchive({ em, log }: WithEm & WithLog): Promise<void> {
  const total = { documents: 0, assets: 0 };
  for (let batch = 0; batch < maxBatches; batch++) {
    const cleaned = await em.transactional((tx) => cleanArchive(tx));
    total.documents += cleaned?.documents ?? 0;
    total.assets += cleaned?.assets ?? 0;
    if (cleaned === null || cleaned.isDone) break;
  }
  if (total.documents + total.assets > 0)
    log.info({ event: "archive_cleaned", ...total }, "archive cleaned");
}

/** Clears accounts closed long ago; deletes expired codes and reservations of addresses. */
async function tidyAccounts(deps: CredentialDeps): Promise<void> {
  const { em } = deps;
  const now = deps.clock.now();
  const at = new Date(now);
  for (;;) {
    const due = { before: new Date(now - closedMs), now: at, limit: maxPurged };
    const purged = await em.transactional(async (tx) => {
      const ids = await purgeAccounts(tx, due);
      await endTeamsOfCleared(tx, ids);
      return ids;
    });
    if (purged.length > 0)
      deps.log.info({ event: "accounts_cleared", count: purged.length }, "closed accounts cleared");
    if (purged.length < maxPurged) break;
  }
  await purgeCodes(em, at);
  await purgeReplaced(em, at);
  await notifyCollisions(deps);
}

/** Mails queued per transaction. */
const maxNotices = 100;

/**
 * Notifies each mailbox that two accounts shared, once (GW-03); a mailbox over its mail limit is notified
 * later.
 */
async function notifyCollisions(deps: CredentialDeps): Promise<void> {
  for (;;) {
    const sent = await deps.em.transactional(async (em) => {
      const pending = await takePendingCollisions(em, maxNotices);
      const messages: (number | null)[] = [];
      for (const { address: to, locale, realm } of pending) {
        const notice = { template: "address-shared", to, locale, realm, params: {} } as const;
        messages.push(await writeMessage(em, deps, notice));
      }
      const written = pending.filter((_, at) => messages[at] !== null);
      const now = new Date(deps.clock.now());
      await markNotified(
        em,
        written.map(({ playerId }) => playerId),
        now,
      );
      return { written, messages };
    });
    await postMessages(deps, sent.messages);
    for (const { playerId, keptPlayerId } of sent.written)
      deps.log.warn(
        { event: "address_lost", player: playerId, kept: keptPlayerId },
        "address lost to an account of the same mailbox, mailbox notified",
      );
    if (sent.written.length < maxNotices) return;
  }
}

/** Play sessions ended per batch. */
const sessionBatch = 500;

/** Ends play sessions left without an answer (RUN-01). */
async function endSessions({ em, clock }: WithEm & WithClock): Promise<void> {
  const batch = { idleSince: idleSince(clock.now()), limit: sessionBatch };
  while ((await endIdleSessions(em, batch)) === sessionBatch);
}
