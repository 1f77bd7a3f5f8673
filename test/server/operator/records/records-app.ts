import { after, before } from "node:test";
import type { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { viewImports } from "../../../../server/features/archive/domain/import-records.ts";
import { createAvatarService } from "../../../../server/features/avatars/domain/avatar-service.ts";
import { viewMessages } from "../../../../server/features/delivery/domain/outbox.ts";
import { viewPlayerMessages } from "../../../../server/features/delivery/domain/player-messages.ts";
import { createQuestionService } from "../../../../server/features/questions/domain/question-review.ts";
import { viewPlayerWallet } from "../../../../server/features/wallet/domain/player-wallet.ts";
import { viewReconciliation } from "../../../../server/features/wallet/domain/reconciliation.ts";
import { avatarRoutes, type AvatarsDeps } from "../../../../server/operator/avatars/routes.ts";
import { importRoutes, type ImportsDeps } from "../../../../server/operator/imports/routes.ts";
import type { JobService } from "../../../../server/operator/jobs/service.ts";
import { messageRoutes, type MessagesDeps } from "../../../../server/operator/messages/routes.ts";
import {
  questionRoutes,
  type QuestionsDeps,
} from "../../../../server/operator/questions/routes.ts";
import { walletRoutes, type WalletsDeps } from "../../../../server/operator/wallets/routes.ts";
import { startApp, type App } from "../../../support/app.ts";
import { undoneRecordsIn } from "../../../support/operator.ts";
import { answerOf, type Call } from "../call-route.ts";

type Deps = AvatarsDeps & ImportsDeps & MessagesDeps & QuestionsDeps & WalletsDeps;

const routes = [
  ...avatarRoutes,
  ...importRoutes,
  ...messageRoutes,
  ...questionRoutes,
  ...walletRoutes,
];

export let app: App;
/** Set to replace what the queues answer. */
export const queues = {
  queue: async () => ({ name: "codex-import", is_paused: false, counts: {} }),
};

/** The service, and the routes of records over its database. */
export function startsRecords(): void {
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());
}

function depsOf({ deps: { config, clock, orm, redis, faults } }: App): Deps {
  const em = () => orm.em.fork();
  const afterwards = () => undefined;
  const recordUndone = undoneRecordsIn(orm);
  return {
    outbox: (filter) => viewMessages(em(), filter, true),
    playerMessages: (id, page) => viewPlayerMessages(em(), id, page, true),
    wallets: () => viewReconciliation(em()),
    playerWallet: (id, page) => viewPlayerWallet(em(), id, page),
    imports: (filter) => viewImports(em(), filter),
    jobs: { queue: () => queues.queue() } as unknown as JobService,
    avatars: createAvatarService({ config, clock, open: async () => orm, recordUndone }),
    questions: createQuestionService(
      (work) => em().transactional((own) => work({ em: own, redis, faults, afterwards })),
      recordUndone,
    ),
  };
}

/** The JSON of an address. */
export const read = async <Body>(path: string, call: Call = {}) =>
  answerOf<Deps, Body>(routes, depsOf(app), path, call);

/** The page of an address. */
export const open = async (path: string, call: Call = {}) =>
  answerOf<Deps, unknown>(routes, depsOf(app), path, { headers: { accept: "text/html" }, ...call });

/** Runs a statement. */
export const run = (statement: ReturnType<typeof sql>) => rowsOf(app.deps.em, statement);

/** Texts of the cells of each row. */
export const rowsIn = (page: string): string[][] =>
  [...page.matchAll(/<tr>([^]*?)<\/tr>/g)]
    .map(([, row = ""]) =>
      [...row.matchAll(/<td>([^]*?)<\/td>/g)].map(([, cell = ""]) =>
        cell.replaceAll(/<[^>]*>/g, "").trim(),
      ),
    )
    .filter((cells) => cells.length > 0);

/** The address that a link with this text leads to. */
export const linkIn = (page: string, text: string): string | null =>
  new RegExp(`href="([^"]*)"\\s*>\\s*${text}\\s*<`).exec(page)?.[1]?.replaceAll("&#38;", "&") ??
  null;
