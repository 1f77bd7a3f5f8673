import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startChatServer, type ChatServer } from "../support/chat-server.ts";
import { eventually } from "../support/eventually.ts";
import { startService, type Service } from "../support/process.ts";

/** Longer than the questions stored at the start last. */
const numMoves = 40;

describe("games while the job worker that asks the language model is frozen or killed", () => {
  let service: Service;
  let model: ChatServer;
  before(async () => {
    model = await startChatServer();
    const env = { GENERATOR_URL: model.url, GENERATOR_VERIFY: "false", RATE_LIMIT_FACTOR: "0" };
    service = await startService({ sharesPostgres: true, env });
  });
  after(async () => {
    await model.stop();
    await service.stop();
  });

  /** Sent once and must succeed, because nobody would repeat it. */
  async function post<T>(path: string, headers: Record<string, string>, body: unknown = {}) {
    const answer = await fetch(`${service.url}/v1${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return (JSON.parse(text) as { body: T }).body;
  }

  async function guest() {
    const { access_token } = await post<{ access_token: string }>("/gateway/guest", {});
    return { authorization: `Bearer ${access_token}` };
  }

  interface Seat {
    lobby: { code: string };
    player_token: string;
  }
  interface Moved {
    lobby: { status: string; current_index: number };
  }

  async function endlessLobby(category: string) {
    const settings = { hostName: "Ada", mode: "coop", numQuestions: null, category };
    const seat = await post<Seat>("/games/trivia/lobbies", await guest(), settings);
    const path = `/games/trivia/lobbies/${seat.lobby.code}`;
    const headers = { "x-lobby-token": seat.player_token };
    await post(`${path}/join`, {}, { name: "Grace" });
    await post(`${path}/start`, headers);
    return {
      advance: async () => {
        await post(`${path}/lock`, headers);
        const { lobby } = await post<Moved>(`${path}/next`, headers);
        assert.equal(lobby.status, "in_progress");
        return lobby.current_index;
      },
    };
  }

  interface StartedRun {
    run: { id: number };
  }

  async function endlessRun(category: string) {
    const headers = await guest();
    const started = await post<StartedRun>("/games/trivia/runs", headers, {
      mode: "endless",
      category,
    });
    const choice = { selected_index: 0, time_taken_ms: 0 };
    return {
      advance: async () => {
        const path = `/games/trivia/runs/${started.run.id}/answer`;
        const answered = await post<{ run_finished: boolean }>(path, headers, choice);
        assert.equal(answered.run_finished, false);
      },
    };
  }

  const jobWorker = async () =>
    (await service.processes()).find(({ role, is_ready }) => role === "jobs" && is_ready);

  // The stop signal is only for the primary, whose end would also end the games in this process.
  for (const [signal, category] of [
    ["SIGKILL", "film"],
    ["SIGSTOP", "music"],
  ] as const)
    it(`continue at once with stored questions after ${signal} in the middle of a batch`, async () => {
      // The bank replaces a refusing model, with enough questions to start the games.
      model.script({ status: 400 });
      const lobby = await endlessLobby(category);
      const run = await endlessRun(category);
      model.script({ kind: "hang" });
      let index = 0;
      while (model.requests.length === 0 && index < numMoves) index = await lobby.advance();
      await eventually("the model is asked", () => model.requests.length > 0);
      const worker = await jobWorker();
      assert.ok(worker);
      process.kill(worker.pid, signal);
      const from = index;
      while (index < from + numMoves) index = await lobby.advance();
      for (let move = 0; move < numMoves; move++) await run.advance();
      model.script({ status: 400 });
      await eventually("another job worker is ready", async () => {
        const next = await jobWorker();
        return next !== undefined && next.pid !== worker.pid;
      });
    });
});
