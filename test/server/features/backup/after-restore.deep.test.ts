import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { withClient } from "../../../../server/runtime/stores/postgres.ts";
import type { Manifest } from "../../../../server/features/backup/domain/manifest.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, password, post, registerAccount, tokenOf } from "../../../support/identity.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import { backUp, emptyTarget, restore, temporaryFolders, type Target } from "./targets.ts";

const folders = temporaryFolders();
const skipIds = 1_000;
let target: Target;
/** On the restored stores. */
let app: App;

const refreshed = (session: { refresh_token: string }, on = app) =>
  post(on, "/v1/gateway/refresh", { refresh_token: session.refresh_token });
const reclaimed = (session: SessionBody, on = app) =>
  post(on, "/v1/gateway/guest", { reclaimToken: session.reclaim_token });
const codeOf = ({ status, code }: { status: number; code: string | undefined }) => code ?? status;

/** What players got before the backup and after it. */
interface Story {
  guest: SessionBody;
  /** Sessions of one family, oldest first; the last two are newer than the backup. */
  rotated: SessionBody[];
  /** Reclaim tokens of one guest, the last one newer than the backup. */
  reclaims: SessionBody[];
  lost: SessionBody;
  upgraded: { before: SessionBody; after: SessionBody };
  account: { email: string; session: SessionBody };
  /** Opened after the backup. */
  unknown: SessionBody;
}
let story: Story;
let folder: string;
let sequences: Manifest["sequences"];

/** A code, a reset link and the like, all open, and the consent of a program. */
async function openOneTimeCredentials({ deps }: App, id: number): Promise<void> {
  const later = new Date(Date.now() + 600_000);
  for (const statement of [
    sql`insert into sign_in_codes (player_id, code_hash, channel, email_key, expires_at, window_started_at)
      values (${id}, 'x', 'email', 'a@b.example', ${later}, now())`,
    sql`insert into phone_codes (player_id, phone, code_hash, expires_at) values (${id}, '+1', 'x', ${later})`,
    sql`insert into password_resets (player_id, token_hash, password_mark, expires_at)
      values (${id}, 'x', 'x', ${later})`,
    sql`insert into credential_requests (purpose, channel, email_key, realm, created_at)
      values ('code', 'email', 'a@b.example', 'default', now())`,
    sql`insert into token_families (id, player_id, is_guest, realm, ends_at, method)
      values ('consent', ${id}, false, 'default', ${later}, 'consent')`,
  ])
    await rowsOf(deps.em, statement);
}

async function tellStory(first: App): Promise<Story> {
  const guest = await enter(first);
  const rotated = [await enter(first)];
  const reclaims = [await enter(first)];
  const toUpgrade = await enter(first);
  const account = await registerAccount(first);
  const rotate = async () => {
    const answer = await refreshed(rotated.at(-1) ?? guest, first);
    rotated.push(answer.body);
  };
  await rotate();
  await openOneTimeCredentials(first, account.session.player.id);
  ({ sequences } = await backUp(first.stores.databaseUrl, folder));
  await rotate();
  await rotate();
  reclaims.push((await reclaimed(reclaims[0] ?? guest, first)).body);
  const upgrade = { email: "late@example.com", password };
  const upgraded = await post(first, "/v1/gateway/upgrade", upgrade, tokenOf(toUpgrade));
  const login = { identifier: account.email, password };
  return {
    guest,
    rotated,
    reclaims,
    lost: await enter(first),
    upgraded: { before: toUpgrade, after: upgraded.body },
    account,
    unknown: (await post(first, "/v1/gateway/login", login)).body,
  };
}

describe("after a restore", () => {
  before(async () => {
    const first = await startApp({ hasJobs: false });
    folder = folders.folder();
    story = await tellStory(first);
    target = await emptyTarget(first.stores.databaseUrl);
    await first.stop();
    await restore(target, folder, { skipIds });
    const env = { DATABASE_URL: target.databaseUrl, REDIS_URL: target.redisUrl };
    app = await startApp({ env });
  });
  after(async () => {
    await app.stop();
    await target.stop();
    folders.clean();
  });

  describe("tokens", tokens);
  describe("ids", ids);
});

function tokens(): void {
  const cases: { what: string; send: () => Promise<unknown>; answer: string | number }[] = [
    {
      what: "an access token from before the backup",
      send: () => validate(story.guest),
      answer: 200,
    },
    {
      what: "an access token of a player whom the backup does not contain",
      send: () => validate(story.lost),
      answer: 401,
    },
    {
      what: "a refresh token of a session that the backup does not contain",
      send: async () => codeOf(await refreshed(story.unknown)),
      answer: "auth:refresh_invalid",
    },
    {
      what: "the refresh token from before an upgrade that is lost",
      send: async () => codeOf(await refreshed(story.upgraded.before)),
      answer: 200,
    },
    {
      what: "the refresh token of an upgrade that is lost",
      send: async () => codeOf(await refreshed(story.upgraded.after)),
      answer: "auth:refresh_invalid",
    },
    {
      what: "the access token of an upgrade that is lost",
      send: async () =>
        (await app.client.get("/v1/users/@me", { token: story.upgraded.after.access_token }))
          .status,
      answer: 404,
    },
    {
      what: "a reclaim token from before the backup",
      send: async () => codeOf(await reclaimed(story.guest)),
      answer: 200,
    },
    {
      what: "a reclaim token of a player whom the backup does not contain",
      send: async () => codeOf(await reclaimed(story.lost)),
      answer: "auth:token_invalid",
    },
  ];
  for (const { what, send, answer } of cases)
    it(`${what}: ${answer}`, async () => assert.equal(await send(), answer));

  it("a refresh token newer than its session goes on, from two tabs too, and older ones end it", async () => {
    const [, , older, newest] = story.rotated;
    assert.ok(older && newest);
    const tabs = [await refreshed(newest), await refreshed(newest)];
    assert.deepEqual(tabs.map(codeOf), [200, 200]);
    const [next] = tabs;
    assert.ok(next);
    assert.equal(codeOf(await refreshed(next.body)), 200);
    assert.equal(codeOf(await refreshed(older)), "auth:refresh_reused");
    assert.equal(codeOf(await refreshed(next.body)), "auth:refresh_invalid");
  });

  it("reclaim tokens of a guest from before the backup and after it lead to the same player", async () => {
    for (const session of story.reclaims.toReversed()) {
      const answer = await reclaimed(session);
      assert.deepEqual(
        [codeOf(answer), answer.body.player.id],
        [200, story.reclaims[0]?.player.id],
      );
    }
  });

  it("what works once, and consents of programs, have ended", async () => {
    const open = await rowsOf(
      app.deps.em,
      sql<{ what: string }>`select 'code' as what from sign_in_codes where expires_at > now()
        union all select 'phone code' from phone_codes where not is_spent
        union all select 'reset' from password_resets
        union all select 'request' from credential_requests
        union all select 'consent' from token_families where method = 'consent' and revoked_at is null`,
    );
    assert.deepEqual(open, []);
  });

  it("end on request, and guests return all the same", async () => {
    const another = await emptyTarget(target.databaseUrl);
    try {
      const { numSessionsEnded } = await restore(another, folder, { endsSessions: true });
      assert.equal(numSessionsEnded, 6);
      const env = { DATABASE_URL: another.databaseUrl, REDIS_URL: another.redisUrl };
      const second = await startApp({ env, hasJobs: false });
      try {
        assert.equal(codeOf(await refreshed(story.guest, second)), "auth:refresh_invalid");
        assert.equal(codeOf(await reclaimed(story.guest, second)), 200);
      } finally {
        await second.stop();
      }
    } finally {
      await another.stop();
    }
  });
}

function ids(): void {
  it("of every kind continue above all that may have been given out", async () => {
    const now = await withClient(target.databaseUrl, async (client) => {
      const { rows } = await client.query<{ name: string; step: string; last: string }>(
        "select sequencename::text as name, increment_by as step, last_value as last from pg_sequences",
      );
      return new Map(rows.map(({ name, last, step }) => [name, { last: +last, step: +step }]));
    });
    const reused = sequences.filter(({ name, last: before }) => {
      const { last = 0, step = 1 } = now.get(name) ?? {};
      const given = before === null ? 0 : Number(before) + step - 1;
      return last + step <= given + skipIds;
    });
    assert.ok(sequences.length > 30);
    assert.deepEqual(reused, []);
  });

  it("of lost players are those from the backup on, and a new player gets another one", async () => {
    const [lost] = await rowsOf(
      app.deps.em,
      sql<{
        from: number;
        below: number;
      }>`select lost_from as from, lost_below as below from restores`,
    );
    const { player } = await enter(app);
    assert.ok(lost);
    assert.deepEqual(
      [
        lost.from <= story.lost.player.id,
        lost.below > story.lost.player.id,
        player.id >= lost.below,
      ],
      [true, true, true],
    );
  });
}

const validate = async (session: SessionBody) =>
  (await app.client.get("/v1/tokens/validate", { token: session.access_token })).status;
