import assert from "node:assert/strict";
import { assertGapless, createLobby, joinLobby, messagesOf, type Player } from "./player.ts";
import type { Frame, LobbyMessage } from "./event-stream.ts";

interface LobbyShape {
  code: string;
  status: string;
  current_index: number;
  seq: number;
  players: { id: number; score: number; num_correct: number }[];
  reveal: {
    correct_index: number;
    results: { player_id: number; selected_index: number; points_earned: number }[];
  } | null;
  current_question: { question: string; payload: { choices: string[] } } | null;
}

export interface GameOptions {
  mode: "coop" | "versus";
  questions: number;
  /** Runs between two steps, to inject faults. */
  injectFault?: (step: number) => Promise<void>;
}

const lobbyOf = (frame: Frame) =>
  ((frame.data as LobbyMessage).data as { lobby: LobbyShape }).lobby;
const isQuestion = (index: number) => (frame: Frame) =>
  (frame.event === "lobby.started" ||
    frame.event === "lobby.question" ||
    frame.event === "lobby.snapshot") &&
  lobbyOf(frame).status === "in_progress" &&
  lobbyOf(frame).current_index === index;
const isReveal = (index: number) => (frame: Frame) =>
  (frame.event === "lobby.reveal" || frame.event === "lobby.snapshot") &&
  lobbyOf(frame).current_index === index &&
  lobbyOf(frame).reveal !== null;

/** Plays one lobby to its end through the public API and checks what every player saw. */
export async function playGame(players: Player[], options: GameOptions): Promise<LobbyShape> {
  const [host, ...others] = players;
  assert.ok(host);
  const code = await createLobby(host, {
    mode: options.mode,
    numQuestions: options.questions,
    timer: 60,
    maxPlayers: players.length,
    category: "random",
    visibility: "public",
  });
  for (const player of others) await joinLobby(player, code);
  await Promise.all(players.map((player) => player.listen(code)));
  const started = await host.ask(code, "start");
  assert.equal(started.status, 200, JSON.stringify(started));

  const points = new Map<number, number>();
  for (let index = 0; index < options.questions; index++) {
    await seenByAll(players, isQuestion(index), `question ${index} of ${code}`);
    await options.injectFault?.(index);
    await Promise.all(players.map((player, i) => choose(player, code, options.mode, index, i % 4)));
    if (options.mode === "coop")
      assert.equal((await host.ask(code, "lock", { index })).status, 200);
    const reveals = await seenByAll(players, isReveal(index), `reveal ${index} of ${code}`);
    for (const result of reveals[0]?.reveal?.results ?? [])
      points.set(result.player_id, (points.get(result.player_id) ?? 0) + result.points_earned);
    assertAlike(reveals, players, index);
    const next = await host.ask(code, "next", { index });
    assert.equal(next.status, 200, JSON.stringify(next));
  }

  const ends = await seenByAll(
    players,
    (frame) =>
      frame.event === "lobby.ended" ||
      (frame.event === "lobby.snapshot" && lobbyOf(frame).status === "finished"),
    "end",
  );
  const final = ends[0];
  assert.ok(final);
  assert.equal(final.status, "finished");
  for (const entry of final.players)
    assert.equal(entry.score, points.get(entry.id) ?? 0, "score is the sum of points");
  for (const player of players) {
    assert.ok(player.stream);
    assertGapless(player.stream, `${player.name} in ${code}`);
    assertSecret(messagesOf(player.stream));
    player.stream.close();
  }
  return final;
}

async function choose(
  player: Player,
  code: string,
  mode: "coop" | "versus",
  index: number,
  selected: number,
): Promise<void> {
  const answer =
    mode === "versus"
      ? await player.ask(code, "answer", { selected_index: selected, time_taken_ms: 1_000, index })
      : await player.ask(code, "pick", { selected_index: selected, index });
  assert.equal(
    answer.status,
    mode === "versus" ? 200 : 204,
    `${player.name}: ${JSON.stringify(answer)}`,
  );
}

async function seenByAll(
  players: Player[],
  matches: (frame: Frame) => boolean,
  what: string,
): Promise<LobbyShape[]> {
  const frames = await Promise.all(
    players.map((player) => {
      assert.ok(player.stream);
      return player.stream.waitFor(matches, `${what} for ${player.name}`);
    }),
  );
  return frames.map(lobbyOf);
}

/** Everybody saw the same reveal, with one result per player and their own choice in it. */
function assertAlike(reveals: LobbyShape[], players: Player[], index: number): void {
  const first = reveals[0]?.reveal;
  assert.ok(first);
  for (const reveal of reveals) assert.deepEqual(reveal.reveal, first);
  players.forEach((player, i) => {
    const own = first.results.filter((result) => result.player_id === player.seatId);
    assert.equal(own.length, 1, `one result of ${player.name} for question ${index}`);
    assert.equal(own[0]?.selected_index, i % 4);
  });
}

/** No message reveals the correct answer while its question is open (S15). */
function assertSecret(messages: LobbyMessage[]): void {
  for (const message of messages) {
    if (
      message.type === "lobby.reveal" ||
      message.type === "lobby.ended" ||
      message.type === "lobby.snapshot"
    )
      continue;
    const text = JSON.stringify(message.data);
    assert.ok(
      !text.includes('"correct_index"') && !text.includes('"explanation"'),
      `${message.type} tells the answer`,
    );
  }
}
