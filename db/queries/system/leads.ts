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
  /** Idempotency reference of the message; null = none. */
  ref: string | null;
}

/** False if a message with this reference exists. */
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
  /** Idempotency reference of the feedback; null = none. */
  ref: string | null;
}

/** Does nothing if feedback with this reference exists. */
export async function insertFeedback(em: EntityManager, f: NewFeedback): Promise<void> {
  const { userId, playerId, createdAt, ...rest } = f;
  await changeRows(em, (db) =>
    db
      .insertInto("feedback")
      .values({ ...rest, user_id: userId, player_id: playerId, created_at: createdAt })
      .onConflict((conflict) => conflict.column("ref").where("ref", "is not", null).doNothing()),
  );
}
