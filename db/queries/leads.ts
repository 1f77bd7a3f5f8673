import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Feedback } from "../entities/feedback.ts";
import { rowsOf } from "./rows.ts";

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
  const rows = await rowsOf(
    em,
    sql`insert into contact_messages (fullname, email, discovery, subject, message, created_at, ref)
      values (${m.fullname}, ${m.email}, ${m.discovery}, ${m.subject}, ${m.message}, ${m.createdAt},
        ${m.ref})
      on conflict (ref) where ref is not null do nothing returning id`,
  );
  return rows.length > 0;
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
  const context = f.context === null ? null : JSON.stringify(f.context);
  await rowsOf(
    em,
    sql`insert into feedback (kind, source, message, email, route, context, user_id, player_id,
        created_at, ref)
      values (${f.kind}, ${f.source}, ${f.message}, ${f.email}, ${f.route}, ${context}::jsonb,
        ${f.userId}, ${f.playerId}, ${f.createdAt}, ${f.ref})
      on conflict (ref) where ref is not null do nothing`,
  );
}
