import assert from "node:assert/strict";
import { Emberline, type LobbyEvent, type Seat } from "../../server/web/client/emberline.ts";

const numQuestions = 3;

/** A client that reads every event and keeps what the service acknowledged. */
export interface Follower {
  seat: Seat;
  points: number;
  events: LobbyEvent[];
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  reached: (matches: (event: LobbyEvent) => boolean) => Promise<void>;
}

function follow(seat: Seat): Follower {
  const events: LobbyEvent[] = [];
  const waiting = new Set<(event: LobbyEvent) => void>();
  const read = async () => {
    for await (const event of seat.events()) {
      events.push(event);
      for (const notify of waiting) notify(event);
    }
  };
  const reached: Follower["reached"] = (matches) =>
    new Promise((resolve) => {
      const notify = (event: LobbyEvent) => {
        if (!matches(event)) return;
        waiting.delete(notify);
        resolve();
      };
      waiting.add(notify);
      for (const event of events) notify(event);
    });
  return { seat, points: 0, events, ended: read(), reached };
}

const isReveal = (index: number) => (event: LobbyEvent) =>
  "lobby" in event.data && event.data.lobby.reveal?.index === index;

export async function openTable(url: string, number: number): Promise<Follower[]> {
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
export async function playOut(followers: Follower[], during: () => Promise<void>): Promise<void> {
  const host = followers[0]?.seat;
  assert.ok(host);
  await host.start();
  for (let index = 0; index < numQuestions; index++) {
    const answers = followers.map(async (follower, i) => {
      const choice = { index, selected_index: i, time_taken_ms: 400 };
      follower.points += (await follower.seat.answer(choice)).points_earned;
    });
    if (index === 1) await during();
    await Promise.all(answers);
    await Promise.all(followers.map(({ reached }) => reached(isReveal(index))));
    await host.next(index);
  }
  await Promise.all(followers.map(({ ended }) => ended));
}

/** Every acknowledged answer counts once, and every event came once and in order. */
export function assertNothingLost(followers: Follower[]): void {
  for (const { seat, points, events } of followers) {
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
