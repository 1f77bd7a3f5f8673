import assert from "node:assert/strict";
import { it } from "node:test";
import type { Lobby } from "../../../server/pages/client/emberline.ts";

interface GameFile {
  newGame(playerId: number | null, mine: null): object;
  serverNow(game: object): number;
  takeLobby(game: object, lobby: Lobby): void;
}

const file = new URL("../../../server/pages/assets/game.js", import.meta.url);
const lobbyAt = (server_now_ms: number) => ({ server_now_ms, current_question: null }) as Lobby;

it("the play page's time of the server stays what it is when somebody sets the device's clock", async (t) => {
  const { newGame, serverNow, takeLobby } = (await import(file.href)) as GameFile;
  let [device, elapsed] = [Date.parse("2031-01-01"), 5_000];
  t.mock.method(Date, "now", () => device);
  t.mock.method(performance, "now", () => elapsed);
  const game = newGame(7, null);
  takeLobby(game, lobbyAt(1_000_000));
  assert.equal(serverNow(game), 1_000_000, "a clock that is years off");
  for (const step of [300_000, -300_000, 86_400_000, -86_400_000]) {
    device += step;
    elapsed += 1_000;
    assert.equal(serverNow(game), 1_000_000 + elapsed - 5_000, `set by ${step} ms`);
  }
  // A message that took half a second, and one after the device slept for a minute.
  takeLobby(game, lobbyAt(1_003_500));
  assert.equal(serverNow(game), 1_004_000);
  takeLobby(game, lobbyAt(1_064_000));
  assert.equal(serverNow(game), 1_064_000);
});
