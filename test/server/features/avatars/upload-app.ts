import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { after, before, beforeEach } from "node:test";
import { sql } from "kysely";
import sharp from "sharp";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../support/app.ts";
import { registerAccount } from "../../../support/identity.ts";
import {
  formOf,
  scene,
  startTestModerator,
  type FormPart,
  type TestModerator,
} from "../../../support/pictures.ts";

export const path = "/v1/users/@me/avatar/upload";

interface Upload {
  id: number;
  status: string;
  url: string | null;
  rejection_reason: string | null;
}

export interface Selection {
  source: string | null;
  upload_id: number | null;
}

export let app: App;
export let moderator: TestModerator;
let seed = 0;
/** Seed of a new picture. */
export const nextSeed = () => ++seed;
export const fresh = () => scene(nextSeed()).png().toBuffer();

export async function member() {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  const id = session.player.id;
  const form = async (parts: readonly FormPart[], address?: string) => {
    const { headers, body: sent } = formOf(parts);
    const via = address === undefined ? {} : { "x-forwarded-for": address };
    const answer = await app.client.post(path, {
      token,
      headers: { ...headers, ...via },
      body: sent,
    });
    const json = answer.json as { flash?: { errors: { code: string }[] } };
    const body = answer.body as { upload: Upload; avatar?: Selection } | undefined;
    return { ...answer, body, code: json.flash?.errors[0]?.code };
  };
  const send = async (bytes: Uint8Array) => {
    const { status, body, text } = await form([{ bytes }]);
    assert.equal(status, 200, text);
    assert.ok(body);
    return body;
  };
  const draw = async (query = "") =>
    (await app.client.get(`/v1/players/${id}/avatar${query}`)).text;
  /** The decoded picture in the drawing, or null. */
  const picture = async () => {
    const data = /href="data:image\/webp;base64,([^"]+)"/.exec(await draw())?.[1];
    return data === undefined ? null : Buffer.from(data, "base64");
  };
  const choose = (body: unknown) => app.client.patch("/v1/users/@me/avatar", { token, body });
  return { id, token, form, send, draw, picture, choose };
}

export const storedUploads = (playerId: number) =>
  rowsOf(
    app.deps.em,
    sql<{ id: number; status: string; file: string }>`select id, status, file from avatar_uploads
      where player_id = ${playerId} order by id`,
  );

/** The same file with another declared type. */
export function branded(avif: Buffer, brand: string): Buffer {
  const copy = Buffer.from(avif);
  copy.write(brand, 8, "latin1");
  return copy;
}

export const dominant = async (bytes: Buffer) => (await sharp(bytes).stats()).dominant;

/** A form whose body is never sent, and the response to it. */
export interface Slow {
  socket: Socket;
  /** Resolves to the received data, once there is a response or the connection has ended. */
  answered: Promise<string>;
}

/** The service, with a moderator that approves unless a test says otherwise. */
export function startsUploadApp(): void {
  before(async () => {
    moderator = await startTestModerator();
    const env = {
      TRUSTED_PROXIES: "127.0.0.1",
      AVATAR_MODERATION: "webhook",
      AVATAR_MODERATION_URL: moderator.url,
    };
    app = await startApp({ env });
  });
  beforeEach(() => {
    moderator.answer = { status: 200, body: { verdict: "approved" } };
  });
  after(async () => {
    await app.stop();
    await moderator.stop();
  });
}
