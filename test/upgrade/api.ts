import assert from "node:assert/strict";

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export type Headed = Record<string, string>;

/** A call that must succeed, or have this status; otherwise fails with the response. */
export async function call(
  url: string,
  request: string,
  { body, headers = {}, status }: { body?: unknown; headers?: Headed; status?: number } = {},
): Promise<Answer> {
  const [method = "", path = ""] = request.split(" ");
  const isForm = body instanceof FormData || body instanceof URLSearchParams;
  const isJson = body !== undefined && !isForm;
  const answer = await fetch(url + path, {
    method,
    redirect: "manual",
    headers: {
      connection: "close",
      ...(isJson ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isExpected = status === undefined ? answer.ok : answer.status === status;
  assert.ok(isExpected, `${request}: ${answer.status} ${text}`);
  const isObject = answer.headers.get("content-type")?.startsWith("application/json") === true;
  const json = isObject && text !== "" ? (JSON.parse(text) as Record<string, unknown>) : {};
  const wrapped = json["body"] as Record<string, unknown> | undefined;
  return { status: answer.status, headers: answer.headers, body: wrapped ?? json };
}

export const bearer = (token: string): Headed => ({ authorization: `Bearer ${token}` });
export const basic = (id: string, secret: string): Headed => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});
