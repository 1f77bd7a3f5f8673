import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ChallengeKind } from "../entities/challenge.ts";
import { rowsOf } from "./rows.ts";

export interface ChallengeRow {
  id: number;
  kind: ChallengeKind;
  /** YYYY-MM-DD. */
  date: string;
  questionIds: number[];
}

const columns = sql`id, kind, date::text as date, question_ids as "questionIds"`;

export async function findChallenge(em: EntityManager, id: number): Promise<ChallengeRow | null> {
  const rows = await rowsOf<ChallengeRow>(
    em,
    sql`select ${columns} from challenges where id = ${id}`,
  );
  return rows[0] ?? null;
}
