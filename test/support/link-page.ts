import type { App } from "./app.ts";

/** The page behind a link of a mail, as a browser with these headers gets it. */
export interface LinkPage {
  /** Where the link leads when it leads to no page. */
  location: string | null;
  html: string;
  /** Where its form is sent. */
  action: string;
  /** Values of its buttons. */
  answers: string[];
}

const textOf = (html: string) => html.replaceAll("&amp;", "&").replaceAll("&quot;", '"');

/** Opens a link: whoever only looks, as a scanner does, gets as far. */
export async function openLink(
  app: App,
  link: string,
  headers: Record<string, string> = {},
): Promise<LinkPage> {
  const { pathname, search } = new URL(link, app.url);
  const first = await app.client.get(pathname + search, { headers });
  const next = first.headers.get("location");
  if (next === null || next.includes("/status/"))
    return { location: next, html: first.text, action: "", answers: [] };
  const page = await app.client.get(next, { headers });
  const { text: html } = page;
  return {
    location: page.headers.get("location"),
    html,
    action: textOf(/<form[^>]* action="([^"]*)"/.exec(html)?.[1] ?? ""),
    answers: [...html.matchAll(/<button name="answer" value="(\w+)"/g)].map((one) => one[1] ?? ""),
  };
}

/** Sends the form of a page; where the browser goes next. */
export async function pressButton(
  app: App,
  page: LinkPage,
  answer: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const reply = await app.client.post(page.action, {
    body: new URLSearchParams({ answer }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });
  return reply.headers.get("location") ?? `${reply.status} ${reply.text}`;
}

/** Opens a link and says yes to what its page asks; where that leads, or the link when it asks nothing. */
export async function followLink(app: App, link: string): Promise<string> {
  const page = await openLink(app, link);
  return page.location ?? pressButton(app, page, "yes");
}
