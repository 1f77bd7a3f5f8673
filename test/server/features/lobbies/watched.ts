import assert from "node:assert/strict";
import type { App } from "../../../support/app.ts";
import { openStream, type EventStream } from "../../../support/event-stream.ts";
import type { Case, State } from "./bad-input-cases.ts";
import { ask, lobbyOf, openTable, outcome, type Table } from "./seats.ts";

/** A lobby in a state, its players, and a stream without later events. */
export interface Watched extends Table {
  state: State;
  stream: EventStream;
}
export async function openWatched(app: App, state: State): Promise<Watched> {
  const mode = state === "versus" ? "versus" : "coop";
  const fields = { mode, numQuestions: 3, category: "science", timer: 60 };
  const table = await openTable(app, fields, 2);
  const { code, host } = table;
  const run = (action: string) => ask(app, "POST", `/${code}/${action}`, undefined, host.as);
  if (state !== "waiting") assert.equal((await run("start")).status, 200);
  const token = (await run("token")).headers.get("x-hub-token") ?? "";
  const stream = openStream(`${app.url}/v1/hub?topic=/games/trivia/lobby/${code}`, { token });
  await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
  if (state === "finished") {
    await run("end");
    await stream.waitFor((frame) => frame.event === "lobby.ended", "end");
  }
  return { ...table, state, stream };
}

/**
 * Sends all requests and compares the responses, the lobby before and after each, and the published
 * messages.
 */
export async function refuseAll(app: App, { code, stream }: Watched, cases: Case[]): Promise<void> {
  const still = async () => {
    const { server_now_ms: _, ...lobby } = await lobbyOf(app, code);
    return lobby;
  };
  const before_ = await still();
  const frames = stream.frames.length;
  const wrong: string[] = [];
  for (const { what, method, path, body, headers, expected } of cases) {
    const answer = await ask(app, method, `/${code}${path}`, body, headers);
    if (outcome(answer) !== expected) wrong.push(`${what}: ${outcome(answer)}, not ${expected}`);
    assert.deepEqual(await still(), before_, `${what} changed the lobby`);
  }
  assert.deepEqual(wrong, []);
  assert.equal(stream.frames.length, frames, "something was published");
  assert.ok(cases.length > 0);
}
