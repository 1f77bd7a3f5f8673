import assert from "node:assert/strict";
import { createAvatarService } from "../../server/operator/avatar-service.ts";
import { avatarPages } from "../../server/operator/avatars/page.ts";
import { avatarRoutes } from "../../server/operator/avatars/routes.ts";
import { createBoard } from "../../server/operator/board/board.ts";
import { createLoginFailures } from "../../server/operator/session/login-failures.ts";
import { operatorRoles } from "../../server/http/auth/auth.ts";
import type { Operator } from "../../server/operator/session/identity.ts";
import { createOperatorServer, listen } from "../../server/operator/server.ts";
import { startApp, type App } from "./app.ts";
import { createClient } from "./client.ts";
import { registerAccount } from "./identity.ts";
import { formOf, scene } from "./pictures.ts";

export interface ListedUpload {
  id: number;
  player_id: number;
  status: string;
  is_shown: boolean;
  picture_url: string | null;
  rejection_reason: string | null;
  judged_by: string | null;
  can_undo: boolean;
}

const base = "/operator/avatar-uploads";

/** The service, and the part of the operator listener for avatar reviews. */
export async function startReview() {
  const clock = { at: Date.parse("2026-03-01T12:00:00Z"), now: () => clock.at };
  const app = await startApp({ clock, env: { AVATAR_MODERATION: "manual" } });
  const { config, log, orm } = app.deps;
  const service = createAvatarService({ config, clock, open: async () => orm });
  const routes = avatarRoutes(service);
  const operators = new Map<string, Operator>(
    operatorRoles.map((role) => [`token-of-${role}`, { name: `the ${role}`, role }]),
  );
  const server = createOperatorServer({
    config,
    clock,
    log,
    routes,
    pages: avatarPages(service),
    board: createBoard([]),
    identities: {
      fromToken: async (token) => operators.get(token) ?? null,
      fromCookie: async (cookie) => operators.get(cookie) ?? null,
      cookieFor: () => "",
      end: async () => undefined,
    },
    failures: createLoginFailures(clock),
    audit: async () => undefined,
  });
  const url = `http://127.0.0.1:${await listen(server, "127.0.0.1", 0)}`;
  const client = createClient(url, routes);
  const ask = (method: string, path: string, body?: object, role = "operator") => {
    const token = `token-of-${role}`;
    return client.request(method, `${base}${path}`, { token, ...(body ? { body } : {}) });
  };
  const decide = async (id: number, verb: string, body?: object) => {
    const answer = await ask("POST", `/${id}/${verb}`, body);
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { upload: ListedUpload }).upload;
  };
  const list = async (query = "", role = "viewer") =>
    (await ask("GET", query, undefined, role)).body as {
      uploads: ListedUpload[];
      next: number | null;
    };
  const open = (query = "", role = "operator", headers: Record<string, string> = {}) =>
    fetch(`${url}/operator/avatars${query}`, {
      redirect: "manual",
      headers: { cookie: `operator=token-of-${role}`, ...headers },
    });
  const submit = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/operator/avatars`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: "operator=token-of-operator", ...headers },
      body: new URLSearchParams({ status: "queued", ...fields }),
    });
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await app.stop();
  };
  return { app, clock, url, client, ask, decide, list, open, submit, stop };
}

export type Review = Awaited<ReturnType<typeof startReview>>;

export const codeOf = ({ json }: { json: unknown }) =>
  (json as { flash?: { errors: { code: string }[] } }).flash?.errors[0]?.code;

let seed = 100;
/** Seed of the picture that was sent last. */
export const lastSeed = () => seed;

/** A user with an account who uploads pictures, each unlike any other. */
export async function member(app: App) {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  const id = session.player.id;
  const send = async () => {
    const form = formOf([{ bytes: await scene(++seed).png().toBuffer() }]);
    const answer = await app.client.post("/v1/users/@me/avatar/upload", { token, ...form });
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { upload: { id: number; status: string } }).upload;
  };
  const shows = async () => (await app.client.get(`/v1/players/${id}/avatar`)).text;
  const isPicture = async () => (await shows()).includes("data:image/webp");
  const choose = (body: object) => app.client.patch("/v1/users/@me/avatar", { token, body });
  return { id, token, send, shows, isPicture, choose };
}
