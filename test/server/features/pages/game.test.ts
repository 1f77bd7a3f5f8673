import assert from "node:assert/strict";
import { it } from "node:test";
import type { Lobby, LobbyEvent } from "../../../../server/web/client/emberline.ts";
import {
  myChoice,
  newGame,
  noteEvent,
  serverNow,
  takeLobby,
} from "../../../../server/web/play/game.ts";

const lobbyAt = (server_now_ms: number) => ({ server_now_ms, current_question: null }) as Lobby;

it("the play page keeps its server time when the device's clock is changed", (t) => {
  let [device, elapsed] = [Date.parse("2031-01-01"), 5_000];
  t.mock.method(Date, "now", () => device);
  t.mock.method(performance, "now", () => elapsed);
  const game = newGame(7, null);
  takeLobby(game, lobbyAt(1_000_000), []);
  assert.equal(serverNow(game), 1_000_000, "a clock that is years off");
  for (const step of [300_000, -300_000, 86_400_000, -86_400_000]) {
    device += step;
    elapsed += 1_000;
    assert.equal(serverNow(game), 1_000_000 + elapsed - 5_000, `set by ${step} ms`);
  }
  // A message with half a second of latency, and one after the device slept for a minute.
  takeLobby(game, lobbyAt(1_003_500), []);
  assert.equal(serverNow(game), 1_004_000);
  takeLobby(game, lobbyAt(1_064_000), []);
  assert.equal(serverNow(game), 1_064_000);
});

const at = (index: number) =>
  ({ server_now_ms: 0, reveal: null, current_question: { index, answer_hash: null } }) as Lobby;

const picked = (player_id: number, selected_index: number) => ({ player_id, selected_index });

it("the play page shows a pick made in another tab of the same seat, for the same question", () => {
  const game = newGame(7, null);
  takeLobby(game, at(0), [picked(8, 1)]);
  assert.equal(myChoice(game), null);
  takeLobby(game, at(0), [picked(8, 1), picked(7, 3)]);
  assert.equal(myChoice(game), 3);
  takeLobby(game, at(1), []);
  assert.equal(myChoice(game), null);
});

it("the play page shows its own pick until the service has reported it, then the latest of the seat", () => {
  const game = newGame(7, { index: 0, choice: 2, tookMs: 900, key: "k" });
  const report = (choice: number) => {
    noteEvent(game, { type: "lobby.pick", data: picked(7, choice) } as LobbyEvent);
    takeLobby(game, at(0), [picked(7, choice)]);
  };
  report(0);
  assert.equal(myChoice(game), 2, "an earlier pick is reported");
  report(2);
  report(1);
  assert.equal(myChoice(game), 1, "picked in another tab");
});
