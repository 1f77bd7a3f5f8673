import type { App } from "../../../support/app.ts";
import { refusalIn } from "../../../support/client.ts";
import { registerAccount } from "../../../support/identity.ts";

export const me = "/v1/users/@me";

export interface Answer {
  status: number;
  code: string | undefined;
  user: Record<string, unknown>;
  wrong: string[];
}

/** One request; the parts of its response that these tests read. */
export async function call(
  app: App,
  method: string,
  path: string,
  { body, token }: { body?: unknown; token?: string } = {},
): Promise<Answer> {
  const answer = await app.client.request(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  });
  return {
    status: answer.status,
    user: (answer.body as { user: Record<string, unknown> } | undefined)?.user ?? {},
    ...refusalIn(answer.json),
  };
}

/** `200`, or `401 phone:code_invalid`. */
export const result = ({ status, code }: Answer) =>
  code === undefined ? `${status}` : `${status} ${code}`;

/** A new account, and requests as this account. */
export async function newAccount(app: App) {
  const { email, session } = await registerAccount(app);
  const token = session.access_token;
  return {
    email,
    session,
    id: session.player.id,
    change: (body: unknown) => call(app, "PATCH", me, { body, token }),
    call: (method: string, path: string, body?: unknown) =>
      call(app, method, me + path, { body, token }),
  };
}

/** Number of occurrences of each result. */
export function count(results: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of results) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}
