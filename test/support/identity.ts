import { randomString } from "../../server/platform/ids.ts";
import type { SessionBody } from "../../server/features/sessions/schemas.ts";
import type { App } from "./app.ts";

/** The parts of a response that identity tests read. */
export interface SessionAnswer {
  status: number;
  headers: Headers;
  json: {
    flash?: {
      errors?: { code: string; params?: Record<string, unknown> }[];
      violations?: { propertyPath: string; title: string }[];
    };
  };
  /** Set if the call created a session. */
  body: SessionBody;
  /** Of the first error. */
  code: string | undefined;
}

export async function post(
  app: App,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<SessionAnswer> {
  const answer = await app.client.post(path, { body, headers });
  const json = answer.json as SessionAnswer["json"];
  return {
    status: answer.status,
    headers: answer.headers,
    json,
    body: answer.body as SessionBody,
    code: json?.flash?.errors?.[0]?.code,
  };
}

export async function enter(app: App): Promise<SessionBody> {
  return (await post(app, "/v1/gateway/guest", {})).body;
}

export const password = "correct horse 1";

/** A fresh account with `password`. */
export async function registerAccount(app: App): Promise<{ email: string; session: SessionBody }> {
  const username = uniqueName();
  const email = `${username}@example.com`;
  const { body } = await post(app, "/v1/users", { email, username, password });
  return { email, session: body };
}

export const tokenOf = (session: SessionBody) => ({
  authorization: `Bearer ${session.access_token}`,
});

export const cookieOf = (token: string) => ({ cookie: `svc_refresh=${token}` });

export const uniqueName = () => `u_${randomString(10, "abcdefghijklmnopqrstuvwxyz0123456789")}`;

/** Number of responses by status and code. */
export function tally(answers: SessionAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of answers) {
    const key = code === undefined ? String(status) : `${status} ${code}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
