import { after, before } from "node:test";
import { pino } from "pino";
import { isTokenUsed, useToken } from "../../../db/queries/sessions/used-tokens.ts";
import type { OperatorCaller } from "../../../server/http/auth/auth.ts";
import { routesWith, reply } from "../../../server/http/pipeline/route.ts";
import { createEndedSessions } from "../../../server/operator/session/ended-sessions.ts";
import { createIdentities } from "../../../server/operator/session/identity.ts";
import { createOidcSignIn } from "../../../server/operator/session/oidc.ts";
import { sessionRoutes } from "../../../server/operator/session/routes.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import Type from "typebox";
import { startApp, type App } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { freePort } from "../../support/free-port.ts";
import {
  startTestProvider,
  visitProvider,
  type TestProvider,
} from "../../support/oidc-provider.ts";
import { startOperatorPart } from "../../support/operator.ts";

/** In place of the overview: says who is signed in. */
const whoami = routesWith<object>()({
  method: "GET",
  path: "/operator",
  summary: "The operator",
  tag: "Operator",
  auth: "viewer",
  source: "OPS-83",
  responses: { 200: Type.Object({ name: Type.String(), role: Type.String() }) },
  errors: [],
  handler: ({ caller: { name, role } }) => reply(200, { name, role }),
});

export const callbackPath = "/operator/login/oidc/callback";
export const clock = manualClock();
export let provider: TestProvider;
export let url: string;
/** Lines of the log. */
export const lines: string[] = [];

let app: App;
let stop = async () => {};

/** Settings of the sign-in, with changes. */
export const settings = (changes: Record<string, string> = {}) => ({
  OPERATOR_URL: url,
  OPERATOR_OIDC_ISSUER: provider.issuer,
  OPERATOR_OIDC_CLIENT_ID: provider.clientId,
  OPERATOR_OIDC_CLIENT_SECRET: provider.clientSecret,
  OPERATOR_OIDC_ROLES: "team-games=operator, team-leads=admin,everybody=viewer",
  ...changes,
});

/** The sessions of a process with these settings. */
export function identitiesFor(changes: Record<string, string> = {}) {
  const em = () => app.deps.orm.em.fork();
  const used = {
    isUsed: (id: string) => isTokenUsed(em(), id),
    use: (id: string, expiresAt: Date) => useToken(em(), id, expiresAt),
  };
  const ended = createEndedSessions(app.deps.redis, used, clock);
  return createIdentities(parseConfig(settings(changes)), clock, async () => null, ended);
}

/** A part of the operator listener at this host of this machine, with a real OpenID provider. */
export function startsOidc(host = "127.0.0.1"): void {
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
    const port = await freePort();
    url = `http://${host}:${port}`;
    provider = await startTestProvider([url + callbackPath]);
    const config = parseConfig(settings());
    const log = pino({ level: "info" }, { write: (line) => void lines.push(line) });
    const part = await startOperatorPart<object>({
      ...{ config, clock, log, port, redis: app.deps.redis, identities: identitiesFor() },
      routes: [whoami, ...sessionRoutes],
      deps: {},
      oidc: createOidcSignIn({ config, clock, log }),
    });
    stop = () => part.stop();
  });
  after(async () => {
    await stop();
    await provider.stop();
    await app.stop();
  });
}

export const visit = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(path.startsWith("http") ? path : url + path, {
    method,
    redirect: "manual",
    headers: { accept: "text/html", ...headers },
  });

/** The cookies that an answer sets, as a browser sends them back. */
export const cookiesOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");

/** Goes to the provider; what the browser holds, and the address that the provider leads back to. */
export async function atProvider(): Promise<{ kept: string; back: URL }> {
  const answer = await visit("/operator/login/oidc");
  const goal = answer.headers.get("location") ?? "";
  return { kept: cookiesOf(answer), back: await visitProvider(goal, url + callbackPath) };
}

/** Signs a person of the provider in; the answer to the callback. */
export async function signIn(subject: string | null): Promise<Response> {
  provider.signsIn = subject;
  const { kept, back } = await atProvider();
  return visit(back.href, { cookie: kept });
}

/** Who this answer signed in, or the status of the refusal. */
export async function whoIs(cookie: string): Promise<OperatorCaller | number> {
  const answer = await visit("/operator", { accept: "application/json", cookie });
  if (answer.status !== 200) return answer.status;
  return ((await answer.json()) as { body: OperatorCaller }).body;
}
