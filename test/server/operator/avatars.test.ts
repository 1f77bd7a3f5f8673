import assert from "node:assert/strict";
import type { Server } from "node:http";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { createAvatarDesk } from "../../../server/operator/avatar-desk.ts";
import { avatarPages } from "../../../server/operator/avatar-page.ts";
import { avatarRoutes } from "../../../server/operator/avatar-routes.ts";
import { createBoard } from "../../../server/operator/board.ts";
import { createLoginFailures } from "../../../server/operator/failures.ts";
import { operatorRoles, type Operator } from "../../../server/operator/identity.ts";
import { createOperatorServer, listen } from "../../../server/operator/server.ts";
import { startApp, type App } from "../../support/app.ts";
import { createClient, type Client } from "../../support/client.ts";
import { registerAccount } from "../../support/identity.ts";
import { formOf, scene } from "../../support/pictures.ts";

interface Upload {
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
let app: App;
let server: Server;
let client: Client;
let url: string;
let now = Date.parse("2026-03-01T12:00:00Z");
let seed = 100;

before(async () => {
  app = await startApp({ clock: { now: () => now }, env: { AVATAR_MODERATION: "manual" } });
  const { config, clock, log, orm } = app.deps;
  const desk = createAvatarDesk({ config, clock, open: async () => orm });
  const routes = avatarRoutes(desk);
  const operators = new Map<string, Operator>(
    operatorRoles.map((role) => [`token-of-${role}`, { name: `the ${role}`, role }]),
  );
  server = createOperatorServer({
    config,
    clock,
    log,
    routes,
    pages: avatarPages(desk),
    board: createBoard([]),
    identities: {
      fromToken: async (token) => operators.get(token) ?? null,
      fromCookie: async (cookie) => operators.get(cookie) ?? null,
      cookieFor: () => "",
    },
    failures: createLoginFailures(clock),
    audit: async () => undefined,
  });
  url = `http://127.0.0.1:${await listen(server, "127.0.0.1", 0)}`;
  client = createClient(url, routes);
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await app.stop();
});

const codeOf = ({ json }: { json: unknown }) =>
  (json as { flash?: { errors: { code: string }[] } }).flash?.errors[0]?.code;
const ask = async (method: string, path: string, body?: object, role = "operator") => {
  const token = `token-of-${role}`;
  return client.request(method, `${base}${path}`, { token, ...(body ? { body } : {}) });
};
const decide = async (id: number, verb: string, body?: object) => {
  const answer = await ask("POST", `/${id}/${verb}`, body);
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as { upload: Upload }).upload;
};
const list = async (query = "", role = "viewer") =>
  (await ask("GET", query, undefined, role)).body as { uploads: Upload[]; next: number | null };

async function member() {
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

describe("the review of avatars", () => {
  it("lists what waits, oldest first, page by page, and shows pictures to reviewers only", async () => {
    const one = await member();
    const ids = [(await one.send()).id, (await one.send()).id, (await one.send()).id];
    const first = await list("?limit=2");
    assert.deepEqual(
      first.uploads.map(({ id }) => id),
      ids.slice(0, 2),
    );
    const second = await list(`?status=queued&limit=2&cursor=${first.next}`);
    assert.deepEqual(
      second.uploads.map(({ id, player_id, judged_by }) => [id, player_id, judged_by]),
      [[ids[2], one.id, "manual"]],
    );
    assert.equal(second.next, null);
    const url = first.uploads[0]?.picture_url ?? "";
    const picture = await client.get(url, { token: "token-of-operator" });
    assert.equal(picture.headers.get("content-type"), "image/webp");
    assert.match(picture.headers.get("cache-control") ?? "", /no-store/);
    assert.equal(Buffer.from(picture.bytes.subarray(8, 12)).toString(), "WEBP");
    assert.equal((await client.get(url, { token: "token-of-viewer" })).status, 403);
    assert.equal((await client.get(url)).status, 401);
    assert.equal(await one.isPicture(), false);
    assert.equal(codeOf(await ask("GET", "?status=storing")), "request:invalid_query");
  });

  it("approves the newest, which is shown at once; an older one only when the player asks", async () => {
    const one = await member();
    const [older, newest] = [await one.send(), await one.send()];
    assert.equal((await decide(older.id, "approve")).is_shown, false);
    assert.equal(await one.isPicture(), false);
    const approved = await decide(newest.id, "approve", { reason: "fine" });
    assert.deepEqual(
      [approved.status, approved.is_shown, approved.judged_by, approved.can_undo],
      ["approved", true, "operator:the operator", true],
    );
    assert.ok(await one.isPicture());
    assert.ok((await list("?status=approved")).uploads.some(({ id }) => id === newest.id));
  });

  it("does not show an approved picture over what was chosen meanwhile", async () => {
    const one = await member();
    const { id } = await one.send();
    await one.choose({ source: "custom", icon: "lorc/acorn" });
    assert.equal((await decide(id, "approve")).is_shown, false);
    assert.match(await one.shows(), /Icon by/);
  });

  it("rejects with a reason, takes what is shown away, and undoes it all", async () => {
    const one = await member();
    await one.choose({ source: "custom", icon: "lorc/anvil", border: "gold" });
    const generated = await app.client.get(`/v1/players/${one.id}/avatar?fallback`);
    const claimed = await one.shows();
    const { id } = await one.send();
    await decide(id, "approve");
    const shown = await one.shows();
    const rejected = await decide(id, "reject", { reason: "  No logos.  " });
    assert.deepEqual([rejected.status, rejected.rejection_reason], ["rejected", "No logos."]);
    assert.equal(await one.shows(), generated.text);
    const undone = await decide(id, "undo");
    assert.deepEqual([undone.status, undone.is_shown, undone.can_undo], ["approved", true, false]);
    assert.equal(await one.shows(), shown);
    // The decision before cannot be undone any more, but it can be decided anew.
    assert.equal(codeOf(await ask("POST", `/${id}/undo`)), "avatar:nothing_to_undo");
    await decide(id, "reject", { reason: "Still no logos." });
    assert.equal((await decide(id, "approve")).status, "approved");
    assert.equal((await decide(id, "undo")).rejection_reason, "Still no logos.");
    const again = await one.send();
    await one.choose({ source: "custom", icon: "lorc/anvil", border: "gold" });
    assert.equal(await one.shows(), claimed);
    assert.equal((await decide(again.id, "approve")).is_shown, false);
  });

  it("undoes an approval by showing what was shown before, unless that was changed since", async () => {
    const [a, b] = [await member(), await member()];
    for (const one of [a, b])
      await one.choose({
        source: "custom",
        icon: "lorc/apple-seeds",
        color: one === a ? "red" : "blue",
      });
    const before = await a.shows();
    const [first, second] = [await a.send(), await b.send()];
    for (const { id } of [first, second]) assert.ok((await decide(id, "approve")).is_shown);
    await decide(first.id, "undo");
    assert.equal(await a.shows(), before);
    await b.choose({ source: null });
    const chosen = await b.shows();
    await decide(second.id, "undo");
    assert.equal(await b.shows(), chosen);
  });

  it("gives a claim back with an undone rejection only while nobody else took it", async () => {
    const [a, b] = [await member(), await member()];
    const claim = { source: "custom", icon: "lorc/arrow-cluster", color: "teal" };
    await a.choose(claim);
    const { id } = await a.send();
    await decide(id, "approve");
    await decide(id, "reject", { reason: "No." });
    assert.equal((await b.choose(claim)).status, 200);
    assert.equal((await decide(id, "undo")).is_shown, true);
    assert.equal((await a.choose(claim)).status, 409);
  });

  it("makes likeness to a rejected picture count, until the rejection is undone", async () => {
    const [a, b] = [await member(), await member()];
    const { id } = await a.send();
    const same = seed;
    await decide(id, "reject", { reason: "No." });
    const send = async () => {
      const bytes = await scene(same).jpeg({ quality: 50 }).toBuffer();
      const answer = await app.client.post("/v1/users/@me/avatar/upload", {
        token: b.token,
        ...formOf([{ bytes }]),
      });
      return (answer.body as { upload: { status: string } }).upload.status;
    };
    assert.equal(await send(), "rejected");
    await decide(id, "undo");
    assert.equal(await send(), "queued");
  });

  it("refuses what is not there, what has no reason, and viewers", async () => {
    const { id } = await (await member()).send();
    for (const verb of ["approve", "reject", "undo"]) {
      const body = verb === "reject" ? { reason: "No." } : undefined;
      assert.equal(codeOf(await ask("POST", `/999999/${verb}`, body)), "avatar:upload_not_found");
      assert.equal(codeOf(await ask("POST", `/x/${verb}`, body)), "avatar:upload_not_found");
      assert.equal((await ask("POST", `/${id}/${verb}`, body, "viewer")).status, 403);
    }
    assert.equal(codeOf(await ask("GET", "/999999/picture")), "avatar:upload_not_found");
    for (const body of [{}, { reason: " " }, { reason: "x".repeat(256) }, { reason: 7 }])
      assert.equal(codeOf(await ask("POST", `/${id}/reject`, body)), "validation:failed");
  });

  it("writes down who decided what and why", async () => {
    const { id } = await (await member()).send();
    await decide(id, "approve");
    await decide(id, "reject", { reason: "A mistake." });
    await decide(id, "undo", { reason: "No mistake." });
    const entries = await rowsOf(
      app.deps.em,
      sql<{ operator: string; action: string; reason: string }>`
        select operator, action, reason from audit_log
        where target = ${`avatar upload ${id}`} order by id`,
    );
    assert.deepEqual(entries, [
      { operator: "the operator", action: "avatar:approve", reason: "" },
      { operator: "the operator", action: "avatar:reject", reason: "A mistake." },
      { operator: "the operator", action: "avatar:undo", reason: "No mistake." },
    ]);
  });

  it("decides once, however often it is asked at the same moment", async () => {
    const one = await member();
    const { id } = await one.send();
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask("POST", `/${id}/approve`)));
    assert.ok(answers.every(({ status }) => status === 200));
    const rows = await rowsOf(
      app.deps.em,
      sql<{ v: number }>`select avatar_v as v from players where id = ${one.id}`,
    );
    assert.equal(rows[0]?.v, 1);
    assert.equal((await decide(id, "undo")).status, "queued");
  });
});

describe("the upkeep of pictures", () => {
  const tidy = async () => {
    const { maintain } = await import("../../../workers/processors/maintenance.ts");
    await maintain({ task: "avatars" }, { ...app.deps, em: app.deps.orm.em.fork() });
  };
  const filesOf = (playerId: number) =>
    rowsOf(
      app.deps.em,
      sql<{ id: number; file: string | null }>`select id, file from avatar_uploads
        where player_id = ${playerId} order by id`,
    );

  it("keeps the newest, the shown and the last approved of each player, and refuses to approve the rest", async () => {
    const one = await member();
    const uploads = [await one.send(), await one.send()];
    const [, second] = uploads;
    assert.ok(second);
    await decide(second.id, "approve");
    for (let i = 0; i < 6; i++) uploads.push(await one.send());
    const before = await filesOf(one.id);
    await tidy();
    const kept = (await filesOf(one.id)).filter(({ file }) => file !== null).map(({ id }) => id);
    assert.deepEqual(kept, [second.id, ...uploads.slice(3).map(({ id }) => id)]);
    assert.ok(await one.isPicture());
    const gone = before[0];
    assert.ok(gone?.file);
    await assert.rejects(app.deps.pictureStore.read(gone.file));
    assert.equal(codeOf(await ask("POST", `/${gone.id}/approve`)), "avatar:picture_removed");
    assert.equal(codeOf(await ask("GET", `/${gone.id}/picture`)), "avatar:picture_removed");
    assert.ok(!(await list("?limit=100")).uploads.some(({ id }) => id === gone.id));
  });

  it("removes rejected pictures after a month, and those of a cleared account", async () => {
    const [a, b] = [await member(), await member()];
    const [rejected, other] = [await a.send(), await b.send()];
    await decide(rejected.id, "reject", { reason: "No." });
    await tidy();
    assert.ok((await filesOf(a.id))[0]?.file);
    now += 31 * 86_400_000;
    const cleared = sql`update players set purged_at = now(), deleted_at = now() where id = ${b.id}`;
    await rowsOf(app.deps.em, cleared);
    await tidy();
    assert.deepEqual(await filesOf(a.id), [{ id: rejected.id, file: null }]);
    assert.deepEqual(await filesOf(b.id), [{ id: other.id, file: null }]);
  });

  it("removes what it can when the store of pictures refuses one", async () => {
    const [stuck, other] = [await member(), await member()];
    for (const one of [stuck, other])
      await decide((await one.send()).id, "reject", { reason: "No." });
    const fileOf = async ({ id }: typeof stuck) => (await filesOf(id))[0]?.file ?? null;
    const refused = await fileOf(stuck);
    now += 31 * 86_400_000;
    const { remove } = app.deps.pictureStore;
    app.deps.pictureStore.remove = (file) =>
      file === refused ? Promise.reject(new Error("no")) : remove.call(app.deps.pictureStore, file);
    await tidy();
    assert.deepEqual([await fileOf(stuck), await fileOf(other)], [refused, null]);
    app.deps.pictureStore.remove = remove;
    await tidy();
    assert.equal(await fileOf(stuck), null);
  });

  it("takes no rejection back once the picture is gone", async () => {
    const one = await member();
    const { id } = await one.send();
    await decide(id, "approve");
    await decide(id, "reject", { reason: "No." });
    now += 31 * 86_400_000;
    await tidy();
    assert.equal(codeOf(await ask("POST", `/${id}/undo`)), "avatar:picture_removed");
    assert.equal((await list("?status=rejected")).uploads[0]?.id, id);
  });

  it("has an upload judged whose job was lost, and forgets one that was never stored", async () => {
    const one = await member();
    const at = new Date(now - 3_600_000);
    const file = (await filesOf((await member()).id))[0]?.file ?? null;
    assert.equal(file, null);
    const { id } = await one.send();
    await rowsOf(
      app.deps.em,
      sql`update avatar_uploads set judged_at = null, judged_by = null, created_at = ${at}
        where id = ${id}`,
    );
    await rowsOf(
      app.deps.em,
      sql`insert into avatar_uploads (player_id, status, file, selection_v, created_at)
        values (${one.id}, 'storing', 'AAAAAAAAAAAAAAAAAAAAAA.webp', 0, ${at})`,
    );
    await tidy();
    const deadline = performance.now() + 60_000;
    while (
      (await list("?limit=100")).uploads.find((one) => one.id === id)?.judged_by !== "manual"
    ) {
      assert.ok(performance.now() < deadline, "nobody judged it");
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.deepEqual((await filesOf(one.id)).length, 1);
  });
});

describe("the page for reviewers", () => {
  const open = (query = "", role = "operator") =>
    fetch(`${url}/operator/avatars${query}`, { headers: { cookie: `operator=token-of-${role}` } });
  const submit = async (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/operator/avatars`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: "operator=token-of-operator", ...headers },
      body: new URLSearchParams({ status: "queued", ...fields }),
    });

  it("shows what waits, and takes decisions with their reasons and back", async () => {
    const one = await member();
    const id = String((await one.send()).id);
    const picture = `src="/operator/avatar-uploads/${id}/picture"`;
    assert.ok((await (await open()).text()).includes(picture));
    const reason = "<b>not you</b>";
    const rejected = await submit({ id, verb: "reject", reason });
    assert.deepEqual(
      [rejected.status, rejected.headers.get("location")],
      [303, "/operator/avatars?status=queued"],
    );
    assert.ok(!(await (await open()).text()).includes(picture));
    const decided = await (await open("?status=rejected")).text();
    assert.ok(decided.includes(picture) && decided.includes("&#60;b&#62;not you"));
    assert.equal((await submit({ id, verb: "undo" })).status, 303);
    assert.equal((await submit({ id, verb: "approve" })).status, 303);
    assert.ok(await one.isPicture());
  });

  it("says why nothing was done", async () => {
    const id = String((await (await member()).send()).id);
    for (const [fields, problem] of [
      [{ id, verb: "reject", reason: " " }, /takes a reason/],
      [{ id, verb: "reject", reason: "x".repeat(256) }, /takes a reason/],
      [{ id, verb: "undo" }, /role="alert"/],
      [{ id: "2147483647", verb: "approve" }, /role="alert"/],
    ] as const) {
      const answer = await submit(fields);
      assert.equal(answer.status, 422);
      assert.match(await answer.text(), problem);
    }
    assert.ok(
      (await list()).uploads.some((upload) => String(upload.id) === id),
      "it still waits",
    );
  });

  it("does not decide over what somebody else decided since the page was shown", async () => {
    const one = await member();
    const id = String((await one.send()).id);
    const html = await (await open("?status=queued")).text();
    const section = html.slice(html.indexOf(`name="id" value="${id}"`));
    const seen = /name="seen" value="([^"]+)"/.exec(section)?.[1] ?? "";
    assert.equal((await submit({ id, verb: "reject", reason: "No.", seen })).status, 303);
    const late = await submit({ id, verb: "approve", seen });
    assert.equal(late.status, 422);
    assert.match(
      await late.text(),
      /Somebody decided meanwhile: rejected by operator:the operator/,
    );
    assert.equal(await one.isPicture(), false);
    assert.equal((await list("?status=rejected")).uploads[0]?.id, Number(id));
  });

  it("asks a browser whose session has ended to sign in, and says that nothing was done", async () => {
    const headers = { cookie: "operator=ended", accept: "text/html" };
    const page = await fetch(`${url}/operator/avatars`, { headers, redirect: "manual" });
    assert.deepEqual([page.status, page.headers.get("location")], [303, "/operator/login"]);
    const answer = await submit({ id: "1", verb: "approve" }, headers);
    assert.equal(answer.status, 401);
    assert.match(await answer.text(), /nothing was done[^]*name="token"/);
  });

  it("is for operators, on their own pages", async () => {
    assert.equal((await open("", "viewer")).status, 403);
    const foreign = await submit({ id: "1", verb: "approve" }, { "sec-fetch-site": "cross-site" });
    assert.equal(foreign.status, 403);
  });
});
