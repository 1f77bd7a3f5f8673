import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import { sql } from "kysely";
import { saveConnection } from "../../../../db/queries/social/oauth-connections.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../support/app.ts";
import { registerAccount } from "../../../support/identity.ts";

export interface Selection {
  source: string | null;
  icon: string | null;
  color: string | null;
  bg: string | null;
  border: string | null;
  upload_id: number | null;
  updated_at: string;
}

interface Available {
  icons: { author: string; slug: string; tags: string[] }[];
  total: number;
  taken_count: number;
  palettes: Record<"colors" | "bgs" | "borders", string[]>;
}

type Answer = { status: number; json: unknown; body: unknown };

export const codeOf = ({ json }: Answer) =>
  (json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0]?.code;

export let app: App;

/** Responses of the provider's picture host by path, and the number of requests. */
export const pictures = new Map<string, { status: number; type: string }>();
export const asked = { times: 0 };

const cdn = createServer((request, answer) => {
  asked.times++;
  const { status, type } = pictures.get(request.url ?? "") ?? { status: 404, type: "text/html" };
  answer.writeHead(status, { "content-type": type, location: "http://127.0.0.1:1/" }).end("x");
});

export let cdnUrl = "";
const startAt = Date.parse("2026-03-01T12:00:00Z");
let now = startAt;
export const advance = (ms: number) => (now += ms);

export async function member() {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  const id = session.player.id;
  const choose = (body: unknown) => app.client.patch("/v1/users/@me/avatar", { token, body });
  const draw = (query = "") => app.client.get(`/v1/players/${id}/avatar${query}`);
  const chosen = async (body: unknown) => {
    const answer = await choose(body);
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { avatar: Selection }).avatar;
  };
  const version = async () => {
    const rows = await rowsOf(
      app.deps.em,
      sql<{ v: number }>`select avatar_v as v from players where id = ${id}`,
    );
    return rows[0]?.v ?? -1;
  };
  const link = (provider: string, avatarUrl: string | null) =>
    saveConnection(
      app.deps.em,
      { playerId: id, provider, subject: `s${id}`, name: null, avatarUrl },
      new Date(now),
    );
  return { id, token, choose, chosen, draw, version, link };
}

export const available = async (query = "") =>
  (await app.client.get(`/v1/avatars/available${query}`)).body as Available;

export const namesOf = ({ icons }: Available) =>
  icons.map(({ author, slug }) => `${author}/${slug}`);

export const emptySelection: Selection = {
  source: null,
  icon: null,
  color: null,
  bg: null,
  border: null,
  upload_id: null,
  updated_at: "",
};

/** The service and the picture host of a social login. */
export function startsSelectionApp(): void {
  before(async () => {
    // Files of one process share this module.
    now = startAt;
    pictures.clear();
    asked.times = 0;
    await new Promise<void>((done) => cdn.listen(0, "127.0.0.1", done));
    cdnUrl = `http://127.0.0.1:${(cdn.address() as AddressInfo).port}`;
    app = await startApp({
      hasJobs: false,
      clock: { now: () => now },
      env: {
        AVATAR_CDN_HOSTS: "127.0.0.1,*.pictures.example",
        OAUTH_ACME_CLIENT_ID: "a",
        OAUTH_ACME_ISSUER: "https://acme.example",
        OAUTH_OTHER_CLIENT_ID: "o",
        OAUTH_OTHER_ISSUER: "https://other.example",
      },
    });
  });
  after(async () => {
    await app.stop();
    cdn.closeAllConnections();
    await new Promise((done) => cdn.close(done));
  });
}
