/** One social login, from `OAUTH_<NAME>_…` (OA-01). */
export interface OauthProvider {
  /** `<NAME>` in lower case; also what an avatar's `source` accepts. */
  id: string;
  name: string;
  clientId: string;
  /** Empty for a public client. */
  clientSecret: string;
  scopes: string;
  /** How the provider returns the code; null lets it choose, which is the query. */
  responseMode: ResponseMode | null;
  endpoints: OauthEndpoints;
}

const responseModes = ["query", "form_post"] as const;
type ResponseMode = (typeof responseModes)[number];

export type OauthEndpoints =
  /** OpenID Connect: everything else is discovered. */
  | { kind: "discovered"; issuer: string }
  /** Plain OAuth 2. The issuer is the `iss` that its callback may name; null: not known, so it is not compared. */
  | { kind: "plain"; issuer: string | null; authorize: string; token: string; userinfo: string };

const settingName =
  /^OAUTH_([A-Z0-9_]+)_(CLIENT_ID|SECRET|ISSUER|AUTHORIZE_URL|TOKEN_URL|USERINFO_URL|SCOPES|LABEL|RESPONSE_MODE)$/;
/** Built-in avatar sources. */
const takenIds: ReadonlySet<string> = new Set(["custom", "upload"]);
export const maxProviders = 32;
const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

type Settings = Partial<Record<string, string>>;

/** The providers of an environment, ordered by name, and its problems. */
export function readOauthProviders(
  env: Readonly<Record<string, string | undefined>>,
  isProduction: boolean,
): { providers: OauthProvider[]; problems: string[] } {
  const byName = new Map<string, Settings>();
  for (const [key, value] of Object.entries(env)) {
    const [, name, setting] = settingName.exec(key) ?? [];
    const text = value?.trim() ?? "";
    if (name === undefined || setting === undefined || text === "") continue;
    byName.set(name, { ...byName.get(name), [setting]: text });
  }
  const providers: OauthProvider[] = [];
  const problems: string[] = [];
  for (const [name, settings] of [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const found = problemsOf(name, settings, isProduction);
    problems.push(...found);
    if (found.length === 0) providers.push(toProvider(name, settings));
  }
  if (providers.length > maxProviders) problems.push(`OAUTH_*: at most ${maxProviders} providers`);
  return { providers, problems };
}

function problemsOf(name: string, settings: Settings, isProduction: boolean): string[] {
  const problems: string[] = [];
  const prefix = `OAUTH_${name}`;
  if (name.length < 2 || name.length > 32)
    problems.push(`${prefix}: a name has 2 to 32 characters`);
  if (takenIds.has(name.toLowerCase())) problems.push(`${prefix}: this name is taken`);
  if (!settings["CLIENT_ID"]) problems.push(`${prefix}_CLIENT_ID: required`);
  const plain = ["AUTHORIZE_URL", "TOKEN_URL", "USERINFO_URL"];
  const given = plain.filter((key) => settings[key]);
  const isPlain = given.length === plain.length;
  const isDiscovered = given.length === 0 && settings["ISSUER"] !== undefined;
  if (!isPlain && !isDiscovered)
    problems.push(`${prefix}: needs either _ISSUER or all of _${plain.join(", _")}`);
  const { RESPONSE_MODE: mode } = settings;
  if (mode !== undefined && !isResponseMode(mode))
    problems.push(`${prefix}_RESPONSE_MODE: one of ${responseModes.join(", ")}`);
  for (const key of ["ISSUER", ...plain]) {
    const url = settings[key];
    if (url && !isSafeUrl(url, isProduction))
      problems.push(`${prefix}_${key}: not an https address`);
  }
  return problems;
}

const isResponseMode = (text: string | undefined): text is ResponseMode =>
  responseModes.some((mode) => mode === text);

/** True for https; outside production also for plain http on this machine. */
export function isSafeUrl(text: string, isProduction: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return (
    protocol === "https:" || (protocol === "http:" && localHosts.has(hostname) && !isProduction)
  );
}

function toProvider(name: string, settings: Settings): OauthProvider {
  const endpoints = endpointsOf(settings);
  const { RESPONSE_MODE: mode } = settings;
  return {
    id: name.toLowerCase(),
    name: settings["LABEL"] ?? name.charAt(0) + name.slice(1).toLowerCase(),
    clientId: settings["CLIENT_ID"] ?? "",
    clientSecret: settings["SECRET"] ?? "",
    scopes: settings["SCOPES"] ?? (endpoints.kind === "discovered" ? "openid email profile" : ""),
    responseMode: isResponseMode(mode) ? mode : null,
    endpoints,
  };
}

function endpointsOf(settings: Settings): OauthEndpoints {
  const { ISSUER: issuer, AUTHORIZE_URL: authorize, TOKEN_URL: token = "" } = settings;
  const { USERINFO_URL: userinfo = "" } = settings;
  if (authorize === undefined) return { kind: "discovered", issuer: issuer ?? "" };
  return { kind: "plain", issuer: issuer ?? null, authorize, token, userinfo };
}
