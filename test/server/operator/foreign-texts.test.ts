import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { createFaultStore } from "../../../server/features/faults/domain/fault-store.ts";
import { recordChange } from "../../../server/features/operators/domain/operators.ts";
import { keepEvents } from "../../../server/features/processes/domain/keep-events.ts";
import { groupOccurrences } from "../../../server/platform/faults/batch.ts";
import { Fault } from "../../../server/platform/faults/fault.ts";
import { joinFleet } from "../../../server/runtime/fleet/registry.ts";
import { entryOf } from "../runtime/fleet/entries.ts";
import { registerAccount } from "../../support/identity.ts";
import { member } from "../../support/review.ts";
import { instance } from "../platform/faults/stored-faults.ts";
import { startWholeOperator, type WholeOperator } from "./whole-operator.ts";

const evil = "<img src=x onerror=alert(1)>";
const atMs = Date.now();
const process = {
  ...{ role: evil, index: 0, pid: 7, isReady: true, restarts: 0, startedAt: atMs, nodeId: evil },
  isDraining: false,
  instance: { id: evil, role: evil, index: 0, version: evil, build: evil, startedAtMs: atMs },
};
const room = {
  ...{ code: "ABCDEF", shard: 17, status: evil, seq: 4, deadline: atMs, numCommands: 3 },
  owner: evil,
  owners: [{ atMs, cause: evil, nodeId: evil, process: evil }],
  events: [{ seq: 4, type: evil, atMs }],
};
const share = { nodeId: evil, shards: 1, actors: 1, pending: 0 };

/** Pages whose body has a text of the outside; the test reads the group and the ids of players before. */
describe("a text from elsewhere", () => {
  let whole: WholeOperator;
  const pages: string[] = [];

  before(async () => {
    whole = await startWholeOperator({
      processes: [process],
      moderation: [evil],
      rooms: [{ pid: 7, kinds: { lobby: { ...share, held: [{ ...room, lastUsedAt: atMs }] } } }],
      room: [{ process: "p7", hasRead: true, room, facts: { members: [], resultJob: null } }],
    });
    const { app, queueOf, failJobs, deps } = whole;
    const { em, redis, clock } = app.deps;
    const job = { note: evil, [evil]: evil };
    await failJobs("maintenance", { [evil]: job, plain: job }, new Error(evil));
    await (await queueOf("maintenance").getJob("plain"))?.log(evil);
    const error = new Fault("smtp.refused", { peer: evil, status: 550, text: evil });
    const origin = { requestId: "request-evil", playerId: null, room: evil };
    const failed = { queue: "maintenance", id: "plain", attempt: 1, isFinal: true };
    const groups = groupOccurrences(
      [{ kind: "job", place: "maintenance", error, origin, job: failed, atMs }],
      instance,
    );
    await createFaultStore(redis, clock).write({ instance: "i", seq: 1, numDropped: 0, groups });
    const { id = "" } = groups[0] ?? {};
    await deps.failures.setNote(id, { note: evil, by: evil });
    const given = { kind: "retry", rate: 1, reason: evil, by: evil } as const;
    const action = await deps.failureActions.start(id, { ...given, requestId: "request-evil" });
    await recordChange(em, {
      ...{ operator: evil, action: evil, target: evil, reason: evil, requestId: "request-evil" },
      detail: { [evil]: evil },
    });
    await keepEvents(app.deps, [
      {
        ...{ key: "evil", kind: "exited", atMs, service: "s", role: "jobs", index: 0, pid: 7 },
        ...{ instance: evil, version: evil, build: "b", detail: { signal: evil } },
      },
    ]);
    for (const id of [evil, "other"])
      await joinFleet(
        redis,
        id,
        entryOf({ host: evil, version: evil, commit: evil, ready: evil, hasAvatarFolder: true }),
      );
    const { session } = await registerAccount(app);
    await (await member(app)).send();
    await rowsOf(em, sql`update players set name = ${evil}`);
    const failure = `/operator/failures/${id}`;
    const player = `/operator/players/${session.player.id}`;
    pages.push(
      ...["/operator", "/operator/failures", failure, `${failure}/preview?action=retry`],
      ...[`${failure}/actions/${action.id}`, "/operator/requests/request-evil"],
      ...["/operator/queues", "/operator/queues/maintenance", "/operator/jobs/maintenance/plain"],
      ...["/operator/queues/maintenance/jobs?state=failed", "/operator/rooms"],
      ...["/operator/rooms/lobby", "/operator/rooms/lobby/ABCDEF", "/operator/workers"],
      "/operator/fleet",
      ...["/operator/workers/events", player, `${player}/wallet`, `${player}/messages`],
      ...[`${player}/uploads`, "/operator/avatar-uploads", "/operator/audit", "/operator/outbox"],
      ...["/operator/wallets", "/operator/imports", "/operator/questions"],
      `/operator/audit?operator=${encodeURIComponent(evil)}`,
    );
  });
  after(() => whole.stop());

  it("stays text on every page, in whatever it was written", async () => {
    const cookie = await whole.signIn("admin");
    let numShown = 0;
    for (const path of pages) {
      const answer = await fetch(whole.url + path, { headers: { accept: "text/html", cookie } });
      const text = await answer.text();
      assert.equal(answer.status, 200, `${path}: ${text}`);
      assert.doesNotMatch(text, /<img src=x/, path);
      if (text.includes("&#60;img src=x")) numShown++;
    }
    assert.ok(numShown >= 15, `only ${numShown} pages have the text`);
  });

  it("stays text in the refusal of what somebody searches for", async () => {
    const cookie = await whole.signIn("admin");
    const answer = await fetch(`${whole.url}/operator/search`, {
      method: "POST",
      headers: { accept: "text/html", cookie, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ q: evil }),
    });
    assert.doesNotMatch(await answer.text(), /<img src=x/);
  });
});
