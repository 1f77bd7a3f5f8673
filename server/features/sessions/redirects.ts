import type { Config } from "../../platform/config/config.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithConfig, WithEm } from "../../platform/capabilities.ts";
import { readRealmHosts } from "../realms/service.ts";

const maxRedirectLength = 2_048;
const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1"]);
// oxlint-disable-next-line no-control-regex -- it matches control characters
const suspicious = /[\u0000-\u0020\u007f\\]/;

/**
 * An allowed redirect address, in the normal form that was compared (GW-08, S23). Throws `sso:redirect_invalid` for
 * any other.
 */
export async function allowedRedirect(
  deps: WithEm & WithConfig,
  text: string | undefined,
): Promise<string> {
  const url = text === undefined ? null : parseRedirect(text, deps.config);
  if (url === null) throw new AppError("sso:redirect_invalid");
  if (isListed(url, allowedHosts(deps.config))) return url.href;
  const frontEnds = await readRealmHosts(deps);
  if (frontEnds.has(url.host)) return url.href;
  throw new AppError("sso:redirect_invalid");
}

function parseRedirect(text: string, { APP_ENV }: Pick<Config, "APP_ENV">): URL | null {
  if (text.length > maxRedirectLength || suspicious.test(text) || !/^https?:\/\/[^/]/i.test(text))
    return null;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return null;
  // The parser accepts "a..example.com", which DNS does not.
  if (url.hostname.split(".").includes("")) return null;
  // The parser drops an empty user, "https://@host", which has no legitimate use.
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return null;
  const isLocal = localHosts.has(url.hostname) && APP_ENV !== "production";
  return url.protocol === "https:" || isLocal ? url : null;
}

/** Any port is allowed on localhost only. */
function isListed(url: URL, hosts: readonly string[]): boolean {
  if (url.port !== "" && !localHosts.has(url.hostname)) return false;
  return hosts.some((host) =>
    host.startsWith("*.") ? url.hostname.endsWith(host.slice(1)) : url.hostname === host,
  );
}

function allowedHosts({ SSO_ALLOWED_HOSTS, APP_ENV }: Config): readonly string[] {
  if (SSO_ALLOWED_HOSTS === "") return APP_ENV === "production" ? [] : [...localHosts];
  return SSO_ALLOWED_HOSTS.toLowerCase()
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "");
}
