import assert from "node:assert/strict";
import { it } from "node:test";
import { silenceMs } from "../../../server/platform/redis/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { startProxy } from "../../support/proxy.ts";
import { testStores } from "../../support/stores.ts";
import { bodyOf, by, createCommand, newMember, startedLobby } from "./fleet.ts";

const code = "QUIETA";

// A host whose link was down keeps its open connections, on which TCP repeats ever more rarely what it could not send.
it("rooms of a process whose connections went silent are soon served by it again", async () => {
  const stores = await testStores();
  const proxy = await startProxy({ path: stores.redisUrl.slice("unix://".length) });
  const { lobbies } = await newMember(`redis://127.0.0.1:${proxy.port}/`);
  try {
    await startedLobby(lobbies, code, { seats: [1, 2] });
    proxy.silence();
    await eventually(
      "a command is committed, through new connections",
      async () => (await lobbies.ask("QUIETB", createCommand("QUIETB", [1]), "key")).ok,
      2 * silenceMs,
    );
    const { lobby } = bodyOf(await lobbies.ask(code, { type: "read", ...by(1) }));
    assert.equal(lobby.players.length, 2);
  } finally {
    await lobbies.stop();
    await proxy.stop();
    await stores.stop();
  }
});
