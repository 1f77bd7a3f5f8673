import type { EntityManager } from "@mikro-orm/postgresql";
import { ContactMessageSchema } from "../entities/contact-message.ts";
import { FeedbackSchema, type Feedback } from "../entities/feedback.ts";

export interface NewContactMessage {
  fullname: string;
  email: string;
  discovery: string;
  subject: string;
  message: string;
  createdAt: Date;
}

export async function insertContactMessage(
  em: EntityManager,
  contact: NewContactMessage,
): Promise<void> {
  await em.insert(ContactMessageSchema, contact);
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
}

export async function insertFeedback(em: EntityManager, feedback: NewFeedback): Promise<void> {
  await em.insert(FeedbackSchema, feedback);
}
