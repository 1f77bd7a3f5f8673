import { EmberlineError } from "../../server/web/client/emberline.ts";
import type { Bot } from "./bot.ts";

const maxShown = 200;

/** Reads an answer that the published client has no call for; a refusal is thrown with its code. */
export async function read(response: Response): Promise<string> {
  const text = await response.text();
  if (response.ok) return text;
  const code = /"code":"([a-z_]+:[a-z_]+)"/.exec(text)?.[1] ?? `http:${response.status}`;
  const said = /"message":"([^"]+)"/.exec(text)?.[1] ?? text.slice(0, maxShown);
  throw new EmberlineError(response.status, code, said);
}

/** The operator listener of the target. */
export interface Operator {
  url: string;
  token: string | null;
}

/** Calls the operator API; resolves to the `body` of the answer. */
export async function askOperator<T>(
  bot: Bot,
  { url, token }: Operator,
  method: "GET" | "POST",
  path: string,
): Promise<T> {
  const json = { accept: "application/json", "content-type": "application/json" };
  const headers = { ...json, ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
  const body = method === "POST" ? JSON.stringify({ reason: "a load test" }) : null;
  const response = await bot.fetch(`${url}/operator${path}`, { method, headers, body });
  return (JSON.parse(await read(response)) as { body: T }).body;
}
