import { DeadlineError } from "../../platform/time/deadline.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { unavailable } from "../../http/pipeline/failures.ts";
import type { RouteEntry } from "../../http/pipeline/entry.ts";
import type { RequestContext } from "../../http/pipeline/request-context.ts";
import type { Reply } from "../../http/pipeline/route.ts";
import { within } from "../health/stores.ts";
import { Html, html } from "../html.ts";
import { page } from "../layout.ts";
import { outageSentence } from "./sentences.ts";
import type { Outage, OutageWatch } from "./watch.ts";

/** A page that takes longer, its caller included, is given up if something is away. */
const pageMs = 2_100;
/** Longest wait for what the page still shows. */
const remainderMs = 300;

/** The page; rejects if it is late and something is away, so that people read why within three seconds (OPS-94). */
export async function waitForPage(
  outages: OutageWatch,
  { startedAt }: Pick<RequestContext, "startedAt">,
  reply: Promise<Reply>,
): Promise<Reply> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, pageMs - (performance.now() - startedAt), null);
  try {
    const first = await Promise.race([reply, late]);
    if (first !== null) return first;
  } finally {
    clearTimeout(timer);
  }
  const answer = await Promise.race([reply, outages.poll()]);
  if (!Array.isArray(answer)) return answer;
  // Nothing is away: the page is only slow.
  if (answer.length === 0) return reply;
  throw unavailable(new DeadlineError(pageMs));
}

/** What a page still shows of the parts that respond; nothing for most. */
export async function remainderOf(
  ctx: RequestContext,
  { route, readParams, readQuery }: RouteEntry,
  deps: object,
): Promise<Html | null> {
  if (route.remainder === undefined) return null;
  const params = readParams?.(ctx.paramValues) ?? {};
  const query = readQuery?.(ctx.query) ?? {};
  const given = { params, query, deps, caller: ctx.caller } as never;
  const shown = await within(route.remainder(given), null, remainderMs);
  return shown instanceof Html ? shown : null;
}

interface OutagePageOptions {
  caller: OperatorCaller;
  outages: readonly Outage[];
  /** What the page would show. */
  summary: string;
  remainder: Html | null;
}

/** Instead of a page whose content is unknown now; it renews itself. */
export const outagePage = ({ caller, outages, summary, remainder }: OutagePageOptions): Html =>
  page(
    { title: "Unknown now", caller },
    html`<h1>Unknown now</h1>
      ${outageSentence(outages, summary.charAt(0).toLowerCase() + summary.slice(1))} ${remainder}`,
  );
