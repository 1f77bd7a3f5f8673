import type { EntityManager } from "@mikro-orm/postgresql";
import type { Feedback } from "../../entities/feedback.ts";
import { changeRows } from "../rows.ts";

export interface NewContactMessage {
  fullname: string;
  email: string;
  discovery: string;
  subject: string;
  message: string;
  createdAt: Date;
  /** Names a message that may be sent again; null = none. */
  ref: string | null;
}

/** False when a message of this name is there already. */
export async function insertContactMessage(
  em: EntityManager,
  m: NewContactMessage,
): Promise<boolean> {
  const { createdAt, ...rest } = m;
  const numInserted = await changeRows(em, (db) =>
    db
      .insertInto("contact_messages")
      .values({ ...rest, created_at: createdAt })
      .onConflict((conflict) => conflict.column("ref").where("ref", "is not", null).doNothing()),
  );
  return numInserted > 0;
}

export interface NewFeedback {
  kind: Feedback["kind"];
  source: string;
  message: string;
  email: string | null;
  route: string | null;
  context: Record<string, unknown> | null;
  userId: number | null;
  playerId: number | null;
  createdAt: Date;
  /** Names feedback that may be sent again; null = none. */
  ref: string | null;
}

/** Does nothing when feedback of this name is there already. */
export async function insertFeedback(em: EntityManager, f: NewFeedback): Promise<void> {
  const { userId, playerId, createdAt, ...rest } = f;
  await changeRows(em, (db) =>
    db
      .insertInto("feedback")
      .values({ ...rest, user_id: userId, player_id: playerId, created_at: createdAt })
      .onConflict((conflict) => conflict.column("ref").where("ref", "is not", null).doNothing()),
  );
}
