import type { App } from "./app.ts";

/** The page of a mailed link, as a browser with these headers receives it. */
export interface LinkPage {
  /** Redirect target, if the link leads to no page. */
  location: string | null;
  html: string;
  /** Target of its form. */
  action: string;
  /** Values of its buttons. */
  answers: string[];
}

const textOf = (html: string) => html.replaceAll("&amp;", "&").replaceAll("&quot;", '"');

/** Opens a link, which is as far as a scanner gets. */
export async function openLink(
  app: App,
  link: string,
  headers: Record<string, string> = {},
): Promise<LinkPage> {
  const { pathname, search } = new URL(link, app.url);
  const page = await app.client.get(pathname + search, { headers });
  const { text: html } = page;
  return {
    location: page.headers.get("location"),
    html,
    action: textOf(/<form[^>]* action="([^"]*)"/.exec(html)?.[1] ?? ""),
    answers: [...html.matchAll(/<button name="answer" value="(\w+)"/g)].map((one) => one[1] ?? ""),
  };
}

/** Submits the form of a page; returns the redirect target. */
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

/** Opens a link and confirms on its page; returns the redirect target, or the link if it asks nothing. */
export async function followLink(app: App, link: string): Promise<string> {
  const page = await openLink(app, link);
  return page.location ?? pressButton(app, page, "yes");
}
