import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { brokenConstraint } from "../../db/constraints.ts";
import { createOrm } from "../../db/orm.ts";
import {
  countOpenJobs,
  deleteOldActions,
  insertAction,
  listActions,
  markEnded,
  saveSnapshot,
  type NewFaultAction,
} from "../../db/queries/faults/actions.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { emptyDatabase } from "./empty-database.ts";

const at = new Date(Date.UTC(2026, 2, 1));
const action = (groupId: string): NewFaultAction => ({
  groupId,
  kind: "retry",
  place: "mail",
  operator: "olga",
  reason: "mended",
  rate: 200,
  createdAt: at,
});

describe("the rows of actions on groups of failures", () => {
  let stores: TestStores;
  let orm: MikroORM;
  before(async () => {
    stores = await testStores();
    orm = await createOrm(parseConfig({ DATABASE_URL: stores.databaseUrl }));
  });
  after(async () => {
    await orm.close(true);
    await stores.stop();
  });

  it("have at most one open action a group", async () => {
    const em = orm.em.fork();
    const id = await insertAction(em, action("1-a"));
    const broken = (error: unknown) => brokenConstraint(error) === "fault_actions_open_unique";
    await assert.rejects(insertAction(em.fork(), action("1-a")), broken);
    await insertAction(em, action("1-b"));
    assert.equal(await markEnded(em, id, { state: "done", endedAt: at }), true);
    assert.equal(await markEnded(em, id, { state: "failed", endedAt: at }), false);
    await insertAction(em, action("1-a"));
  });

  it("count the jobs of open actions only", async () => {
    const em = orm.em.fork();
    const id = await insertAction(em, action("1-c"));
    await saveSnapshot(em, id, { numJobs: 12, numLeftOut: 0 });
    assert.equal(await countOpenJobs(em), 12);
    await markEnded(em, id, { state: "done", endedAt: at });
    assert.equal(await countOpenJobs(em), 0);
  });

  it("are removed but for the newest; an open one stays", async () => {
    const em = orm.em.fork();
    const open = await insertAction(em, action("1-d"));
    for (let n = 0; n < 6; n++) {
      const id = await insertAction(em, action("1-e"));
      await markEnded(em, id, { state: "done", endedAt: at });
    }
    await deleteOldActions(em, 4);
    assert.equal((await listActions(em, "1-e", 20)).length, 4);
    assert.deepEqual(
      (await listActions(em, "1-d", 20)).map(({ id }) => id),
      [open],
    );
  });
});

describe("the migration of audit outcomes", () => {
  const { withOrm } = emptyDatabase("outcomes");

  it("keeps every record, takes those of the version before, and goes down and up again", async () => {
    await withOrm(async (orm) => {
      const em = orm.em.fork();
      const write = (target: string) =>
        rowsOf(
          em,
          sql`insert into audit_log (operator, action, target, reason)
            values ('olga', 'job:retry', ${target}, '')`,
        );
      const outcomes = () =>
        rowsOf(em, sql`select target, outcome, num_changed, request_id from audit_log order by id`);
      const before = "Migration20261128223413_fault_actions";
      const own = "Migration20261128223414_audit_outcomes";
      await orm.migrator.up({ to: before });
      await write("mail 1");
      await orm.migrator.up({ to: own });
      await write("mail 2");
      const started = { outcome: "started", num_changed: null, request_id: null };
      const expected = ["mail 1", "mail 2"].map((target) => ({ target, ...started }));
      assert.deepEqual(await outcomes(), expected);
      await orm.migrator.down({ to: before });
      await orm.migrator.up({ to: own });
      assert.deepEqual(await outcomes(), expected);
    });
  });
});
