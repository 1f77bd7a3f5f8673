import * as client from "openid-client";
import type { App } from "../../../support/app.ts";

/** The configured address of the service; requests to it go to the actual port. */
export const issuer = "http://auth.example";

interface Cookie {
  name: string;
  value: string;
  path: string;
}

/** A browser of one person: stores cookies by path, follows redirects inside the service. */
export class Browser {
  /** By name and path, as browsers identify cookies. */
  readonly jar = new Map<string, Cookie>();
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  async request(method: string, url: string, init: { body?: object; bearer?: string } = {}) {
    const { pathname } = new URL(url, issuer);
    const cookie = [...this.jar.values()]
      .filter(({ path }) => pathname === path || path === "/" || pathname.startsWith(`${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
    const answer = await fetch(new URL(url, issuer).href.replace(issuer, this.#app.url), {
      method,
      redirect: "manual",
      headers: {
        cookie,
        ...(init.bearer ? { authorization: `Bearer ${init.bearer}` } : {}),
        ...(init.body ? { "content-type": "application/json" } : {}),
      },
      ...(init.body ? { body: JSON.stringify(init.body) } : {}),
    });
    for (const line of answer.headers.getSetCookie()) this.#keep(line);
    const text = await answer.text();
    const isJson = answer.headers.get("content-type") === "application/json";
    const body = isJson ? (JSON.parse(text) as { body?: unknown }).body : undefined;
    return { status: answer.status, location: answer.headers.get("location"), text, body };
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split("; ");
    const name = pair.slice(0, pair.indexOf("="));
    const path = attributes.find((one) => one.toLowerCase().startsWith("path="))?.slice(5) ?? "/";
    const value = pair.slice(pair.indexOf("=") + 1);
    if (value === "") this.jar.delete(`${name} ${path}`);
    else this.jar.set(`${name} ${path}`, { name, value, path });
  }

  /** From the client's authorization address to our page; returns the path of that page. */
  async open(start: URL): Promise<string> {
    const answer = await this.request("GET", start.href);
    if (answer.status !== 303) throw new Error(`${answer.status} ${answer.text}`);
    return new URL(answer.location ?? "", issuer).pathname;
  }

  /** Answers the page's question; returns the client's address the browser is sent to. */
  async decide(page: string, bearer: string, isAllowed = true): Promise<URL> {
    const body = { is_allowed: isAllowed };
    const answer = await this.request("POST", page, { body, bearer });
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    const { redirect } = answer.body as { redirect: string };
    const back = await this.request("GET", redirect);
    if (back.status !== 303) throw new Error(`${back.status} ${back.text}`);
    return new URL(back.location ?? "");
  }
}

/** A real client library, configured from the metadata document. */
export async function discover(app: App, clientId: string, auth: client.ClientAuth) {
  const customFetch: client.CustomFetch = (url, options) =>
    fetch(url.replace(issuer, app.url), options as RequestInit);
  return client.discovery(new URL(issuer), clientId, undefined, auth, {
    algorithm: "oauth2",
    execute: [client.allowInsecureRequests],
    [client.customFetch]: customFetch,
  });
}
