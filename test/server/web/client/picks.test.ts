import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { frame, key, lobby, seatAt, stream } from "./stream-seat.ts";

/** The lobby in co-op at a question, which is open. */
const at = (index: number, seq: number) => ({
  ...lobby(seq, "in_progress"),
  mode: "coop",
  players: [],
  answered_player_ids: [],
  current_question: { index },
  reveal: null,
});

const pick = (player_id: number, selected_index: number) => ({ player_id, selected_index });

describe("the picks of a seat", () => {
  it("contain those of a read and of events that overtook it", async () => {
    const picks: object[] = [];
    const { service, seat } = await seatAt(
      (response) => {
        stream(response, frame("lobby.snapshot", 5, { lobby: at(0, 5) }));
        response.write(frame("lobby.pick", 6, pick(7, 3)));
        response.write(frame("lobby.pick", 7, pick(9, 2)));
      },
      () => at(0, 6),
      picks,
    );
    const events = seat.events();
    for (const type of ["lobby.snapshot", "lobby.pick", "lobby.pick"])
      assert.equal((await events.next()).value?.type, type);
    assert.deepEqual(seat.picks, [pick(7, 3), pick(9, 2)], "from events");
    picks.push(pick(7, 3), pick(8, 1), pick(9, 0));
    const expected = [pick(7, 3), pick(9, 2), pick(8, 1)];
    assert.deepEqual((await seat.read()).picks, expected);
    assert.deepEqual(seat.picks, expected);
    await events.return();
    await service.stop();
  });

  it("are those of the present question", async () => {
    let now = at(0, 5);
    const picks = [pick(7, 3)];
    const { service, seat } = await seatAt(
      (response) => {
        stream(response, frame("lobby.pick", 6, pick(8, 1)));
        response.write(frame("lobby.pick", 8, pick(9, 2)));
      },
      () => now,
      picks,
    );
    await seat.read();
    assert.deepEqual(seat.picks, [pick(7, 3)]);
    now = at(1, 7);
    picks.length = 0;
    await seat.read();
    assert.deepEqual(seat.picks, []);
    const events = seat.events({ lastEventId: "5" });
    for (let i = 0; i < 2; i++) await events.next();
    assert.deepEqual(seat.picks, [pick(9, 2)], "event 6 is of the question before");
    await events.return();
    await service.stop();
  });

  it("end with the reveal, and that of a player when the player leaves", async () => {
    let now: ReturnType<typeof at> = at(0, 6);
    const picks = [pick(7, 3), pick(8, 1), pick(9, 2)];
    const { service, seat } = await seatAt(
      (response) => {
        stream(response, frame("lobby.pick", 4, pick(6, 0)));
        response.write(frame("lobby.player_removed", 7, { player_id: 8, lobby: at(0, 7) }));
        response.write(frame("lobby.pick", 9, pick(8, 0)));
        response.write(frame("lobby.reveal", 12, { lobby: { ...at(0, 12), reveal: {} } }));
      },
      () => now,
      picks,
    );
    await seat.read();
    const events = seat.events({ lastEventId: "3" });
    for (let i = 0; i < 2; i++) await events.next();
    assert.deepEqual(seat.picks, [pick(7, 3), pick(9, 2)], "event 4 is older than the read");
    // The read began before the player left.
    await seat.read();
    assert.deepEqual(seat.picks, [pick(7, 3), pick(9, 2)]);
    await events.next();
    assert.deepEqual(seat.picks.at(1), pick(8, 0), "the player has returned");
    now = at(0, 10);
    picks.length = 0;
    picks.push(pick(7, 3));
    await seat.read();
    assert.deepEqual(seat.picks, [pick(7, 3)], "missed events removed the others");
    await events.next();
    assert.deepEqual(seat.picks, []);
    await events.return();
    await service.stop();
  });

  it("follow a lobby whose numbers start lower, after data was restored", async () => {
    const { service, seat } = await seatAt(
      (response) => {
        stream(response, frame("lobby.snapshot", 2, { lobby: at(0, 2) }));
        response.write(frame("lobby.pick", 3, pick(key.playerId, 1)));
      },
      () => at(0, 50),
      [pick(key.playerId, 3)],
    );
    await seat.read();
    const events = seat.events();
    for (let i = 0; i < 2; i++) await events.next();
    assert.deepEqual(seat.picks, [pick(key.playerId, 1)]);
    await events.return();
    await service.stop();
  });
});
