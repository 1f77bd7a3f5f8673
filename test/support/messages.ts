import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import type { WithEm } from "../../server/platform/capabilities.ts";

export interface StoredMessage {
  id: number;
  kind: "mail" | "sms";
  template: string;
  locale: string;
  to: string;
  status: string;
  attempts: number;
  sealed: string | null;
  error: string | null;
  content: {
    subject: string;
    text: string;
    html: string | null;
    code: string | null;
    links: string[];
  } | null;
}

/** Every message to an address, oldest first. */
export function messagesTo(deps: WithEm, to: string): Promise<StoredMessage[]> {
  return rowsOf(
    deps.em,
    sql<StoredMessage>`select id, kind, template, locale, recipient as to, status, attempts, sealed,
      last_error as error, content from messages where recipient = ${to} order by id`,
  );
}

const waitMs = 60_000;
const pollMs = 20;

/** The newest message of a template to an address, once sent and more than `numKnown` exist. */
export async function sentMessage(
  deps: WithEm,
  to: string,
  template: string,
  numKnown = 0,
): Promise<StoredMessage & { content: NonNullable<StoredMessage["content"]> }> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const all = (await messagesTo(deps, to)).filter((one) => one.template === template);
    const last = all.at(-1);
    const isNew = all.length > numKnown;
    if (isNew && last?.status === "sent" && last.content !== null)
      return { ...last, content: last.content };
    if (performance.now() > deadline)
      throw new Error(`no ${template} was sent to ${to}: ${JSON.stringify(all)}`);
    await new Promise((done) => setTimeout(done, pollMs));
  }
}
