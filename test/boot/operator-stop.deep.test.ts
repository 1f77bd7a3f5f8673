import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { newPlayer } from "../support/player.ts";
import { startService } from "../support/process.ts";

describe("the operator listener of a service that stops", () => {
  it("answers requests in flight, and accepts no new ones", async () => {
    const service = await startService({ sharesPostgres: true });
    const { accountId } = await newPlayer(service.url, "Ada");
    const signOut = () =>
      fetch(`${service.operatorUrl}/operator/players/${accountId}/revoke-sessions`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${service.operatorToken}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ reason: "asked by mail" }),
      });
    const { status, stopped } = await withClient(service.databaseUrl, async (client) => {
      const isWaitedFor = async () => {
        const waiting = `select 1 from pg_locks
          where not granted and transactionid = pg_current_xact_id()::xid`;
        return (await client.query(waiting)).rowCount === 1;
      };
      const isRefused = () =>
        fetch(`${service.operatorUrl}/operator/login`).then(
          () => false,
          () => true,
        );
      await client.query("begin");
      await client.query("select id from players where id = $1 for update", [accountId]);
      const answer = signOut();
      await eventually("the change waits for the lock", isWaitedFor);
      const stopped = service.stop();
      await eventually("nothing new is taken", isRefused);
      await client.query("rollback");
      return { status: (await answer).status, stopped };
    });
    assert.deepEqual([status, await stopped], [200, 0]);
  });
});
