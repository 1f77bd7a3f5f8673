import type { MikroORM } from "@mikro-orm/postgresql";
import { createOrm } from "../../../../../db/orm.ts";
import { AppError } from "../../../../../server/platform/errors.ts";
import { awardAtOnce, awardWithin } from "../../../../../server/features/wallet/domain/awards.ts";
import {
  operate,
  type OperationName,
} from "../../../../../server/features/wallet/domain/operations.ts";

/** A request to move money; `ref` is unique, except that an award has none. */
export type MoneyRequest =
  | { ref: string; playerId: number; name: OperationName; amount: number }
  | { ref: string; playerId: number; name: "award"; awardId: string; now: number };

/** The error code, or the result. */
export interface Outcome {
  ref: string;
  result: string;
  /** When it was sent and answered, in ms since the epoch. */
  asked: number;
  answered: number;
}

const connections = 6;

/** Executes requests like a process of the service, several concurrently, and reports each. */
export async function executeAll(
  orm: MikroORM,
  requests: Iterator<MoneyRequest>,
  report: (outcome: Outcome) => void,
): Promise<void> {
  const worker = async () => {
    for (let next = requests.next(); !next.done; next = requests.next()) {
      const asked = Date.now();
      const result = await attempt(orm, next.value);
      report({ ref: next.value.ref, result, asked, answered: Date.now() });
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

async function attempt(orm: MikroORM, request: MoneyRequest): Promise<string> {
  const em = orm.em.fork();
  try {
    if (request.name === "award") {
      const { playerId, awardId, now } = request;
      const input = { playerId, awardId, game: "test", now, isClaim: true, ref: null };
      const { isNew } =
        (await awardAtOnce(em, input)) ??
        (await em.transactional((inner) => awardWithin(inner, input)));
      return isNew ? "done" : "earned before";
    }
    const { playerId, name, amount, ref } = request;
    const input = { playerId, amount, refType: "test", refId: ref, at: new Date() };
    const { isRepeat } = await operate(em, name, input);
    return isRepeat ? "done before" : "done";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

export const openStore = (databaseUrl: string) =>
  createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: connections });
