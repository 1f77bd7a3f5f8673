import assert from "node:assert/strict";
import { Emberline, type LobbyEvent, type Seat } from "../../server/web/client/emberline.ts";

const numQuestions = 3;

/** A client that reads every event and keeps what the service acknowledged. */
export interface Sitter {
  seat: Seat;
  points: number;
  events: LobbyEvent[];
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  reached: (isThere: (event: LobbyEvent) => boolean) => Promise<void>;
}

function follow(seat: Seat): Sitter {
  const events: LobbyEvent[] = [];
  const waiting = new Set<(event: LobbyEvent) => void>();
  const read = async () => {
    for await (const event of seat.events()) {
      events.push(event);
      for (const notice of waiting) notice(event);
    }
  };
  const reached: Sitter["reached"] = (isThere) =>
    new Promise((resolve) => {
      const notice = (event: LobbyEvent) => {
        if (!isThere(event)) return;
        waiting.delete(notice);
        resolve();
      };
      waiting.add(notice);
      for (const event of events) notice(event);
    });
  return { seat, points: 0, events, ended: read(), reached };
}

const isReveal = (index: number) => (event: LobbyEvent) =>
  "lobby" in event.data && event.data.lobby.reveal?.index === index;

export async function openTable(url: string, number: number): Promise<Sitter[]> {
  const client = () => new Emberline({ url });
  const host = await client().create({
    hostName: `Host ${number}`,
    mode: "versus",
    numQuestions,
    timer: 60,
    category: "science",
  });
  const others = ["Ada", "Grace"].map((name) => client().join(host.code, name));
  return [host, ...(await Promise.all(others))].map(follow);
}

/** Plays a game to its end; `during` is called while the answers to the second question are in flight. */
export async function playOut(sitters: Sitter[], during: () => Promise<void>): Promise<void> {
  const host = sitters[0]?.seat;
  assert.ok(host);
  await host.start();
  for (let index = 0; index < numQuestions; index++) {
    const answers = sitters.map(async (sitter, i) => {
      const choice = { index, selected_index: i, time_taken_ms: 400 };
      sitter.points += (await sitter.seat.answer(choice)).points_earned;
    });
    if (index === 1) await during();
    await Promise.all(answers);
    await Promise.all(sitters.map(({ reached }) => reached(isReveal(index))));
    await host.next(index);
  }
  await Promise.all(sitters.map(({ ended }) => ended));
}

/** Every acknowledged answer counts once, and every event came once and in order. */
export function assertNothingLost(sitters: Sitter[]): void {
  for (const { seat, points, events } of sitters) {
    assert.equal(seat.lobby?.status, "finished");
    const own = seat.lobby.players.find(({ id }) => id === seat.key.playerId);
    assert.equal(own?.score, points, "every acknowledged answer counts once");
    assertGapless(events);
  }
}

/** Numbers increase by one; only a snapshot may continue at another number, never at a lower one. */
function assertGapless(events: LobbyEvent[]): void {
  let last = -1;
  for (const { type, seq } of events) {
    assert.notEqual(type, "lobby.gap");
    if (type === "lobby.snapshot") assert.ok(seq >= last);
    else assert.equal(seq, last + 1, type);
    last = seq;
  }
}
