import type { PageRules } from "./listener.ts";
import type { RequestContext } from "./request-context.ts";
import { bytesReply, seeOtherReply, type AnyRoute, type Headers, type Reply } from "./route.ts";

const htmlType = "text/html; charset=utf-8";
/** The same address answers programs with JSON. */
const varies: Headers = [["Vary", "Accept"]];

/** True for a browser that opens an address; programs and `fetch` accept anything. */
export const namesHtml = ({ headers }: Pick<RequestContext, "headers">): boolean =>
  headers["accept"]?.includes("text/html") === true;

export interface BrowserInput {
  params: object;
  query: object;
  body: object;
  caller: unknown;
}

/** Runs the handler and shows its answer as the page of the route, or sends the browser to the next page. */
export async function replyToBrowser(
  route: AnyRoute,
  input: BrowserInput,
  finish: PageRules["finish"],
): Promise<Reply> {
  const reply = await route.handler(input as never);
  if (reply.kind !== "json") return reply;
  const { params, query, caller } = input;
  const pagination = reply.pagination ?? null;
  const view = { params, query, caller, input: input.body, body: reply.body, pagination } as never;
  const next = route.pageAfter?.(view) ?? null;
  if (next !== null) return seeOtherReply(next);
  if (route.page === undefined) return reply;
  const headers: Headers = [...reply.headers, ...varies];
  return bytesReply(reply.status, htmlType, finish(route.page(view)).markup, headers);
}
