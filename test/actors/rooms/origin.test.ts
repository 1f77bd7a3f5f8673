import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { noOrigin, type Origin } from "../../../server/platform/origin.ts";
import { eventually } from "../../support/eventually.ts";
import { acquireRedis, type TestRedis } from "../../support/redis-server.ts";
import { bodyOf, by, newMember, startedLobby, type Member } from "./fleet.ts";

const origin = (requestId: string): Origin => ({ ...noOrigin, requestId, playerId: 7 });

describe("the origin of a command", () => {
  let server: TestRedis;
  let members: Member[] = [];
  before(async () => {
    server = await acquireRedis();
    members = [await newMember(server.url), await newMember(server.url)];
    await Promise.all(members.map(({ lobbies }) => lobbies.join()));
  });
  after(async () => {
    await Promise.all(members.map(({ lobbies }) => lobbies.stop()));
    await server.release();
  });

  /** A code of a lobby that the member owns, or does not. */
  async function codeFor({ lobbies }: Member, isOwn: boolean): Promise<string> {
    const codes = Array.from(
      { length: 32 },
      (_, n) => `ABC${2 + (n % 8)}${2 + (n >> 3)}${isOwn ? 2 : 3}`,
    );
    let code: string | undefined;
    await eventually("shards", async () => {
      const owned = members.every((member) => codes.some((each) => member.lobbies.owns(each)));
      code = codes.find((each) => lobbies.owns(each) === isOwn);
      return owned && code !== undefined;
    });
    return code ?? assert.fail();
  }

  for (const isOwn of [true, false])
    it(`reaches the job that it starts at the owner, ${isOwn ? "which is this process" : "which is another process"}`, async () => {
      const [here, there] = members;
      assert.ok(here && there);
      const code = await codeFor(here, isOwn);
      await startedLobby(here.lobbies, code, { seats: [1, 2], questions: 1 });
      const ask = async (command: Parameters<Member["lobbies"]["ask"]>[1], from?: Origin) =>
        bodyOf(await here.lobbies.ask(code, command, undefined, from));
      await ask({ type: "lock", index: 0, ...by(1) }, origin("request-lock"));
      await ask({ type: "next", index: 0, ...by(1) }, origin("request-next"));
      const owner = isOwn ? here : there;
      const result = () => owner.results.find((each) => each.code === code);
      await eventually("a result", async () => result() !== undefined);
      assert.deepEqual(result()?.origin, { ...origin("request-next"), room: `lobby ${code}` });
    });
});
