import assert from "node:assert/strict";
import { createAvatarService } from "../../server/features/avatars/domain/avatar-service.ts";
import { avatarRoutes, type AvatarsDeps } from "../../server/operator/avatars/routes.ts";
import { startApp, type App } from "./app.ts";
import { createClient } from "./client.ts";
import { registerAccount } from "./identity.ts";
import { startOperatorPart, undoneRecordsIn } from "./operator.ts";
import { sessionRoutes } from "../../server/operator/session/routes.ts";
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
  const avatars = createAvatarService({
    ...{ config, clock, open: async () => orm },
    recordUndone: undoneRecordsIn(orm),
  });
  const part = await startOperatorPart<AvatarsDeps>({
    ...{ config, clock, log, redis: app.deps.redis },
    routes: [...avatarRoutes, ...sessionRoutes],
    deps: { avatars },
  });
  const { url } = part;
  const client = createClient(url, avatarRoutes);
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
    fetch(`${url}${base}${query}`, {
      redirect: "manual",
      headers: { cookie: `operator=token-of-${role}`, accept: "text/html", ...headers },
    });
  /** Sends the form of a button. */
  const submit = (
    { id, verb, ...fields }: { id: string; verb: string } & Record<string, string>,
    headers: Record<string, string> = {},
  ) =>
    fetch(`${url}${base}/${id}/${verb}`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: "operator=token-of-operator", accept: "text/html", ...headers },
      body: new URLSearchParams(fields),
    });
  const stop = async () => {
    await part.stop();
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
