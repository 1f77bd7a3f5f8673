import assert from "node:assert/strict";
import { join } from "node:path";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createQueues } from "../../workers/producer.ts";
import { entity, envelope } from "../support/archive.ts";
import { createLobby, joinLobby, newPlayer } from "../support/player.ts";
import type { Service } from "../support/process.ts";

/** Work of which every repetition runs the same functions. */
export interface Request {
  title: string;
  /** The processes that do it. */
  role: "http" | "jobs";
  /** Prepares the service once; the result does it once more. */
  prepare(service: Service): Promise<() => Promise<void>>;
}

const password = "correct horse 1";

async function call(url: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { headers, ...init });
  const text = await response.text();
  assert.ok(response.ok, `${url}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

const post = (url: string, body: object) =>
  call(url, { method: "POST", body: JSON.stringify(body) });

export const requests: Readonly<Record<string, Request>> = {
  get: {
    title: "GET /v1/games/trivia/categories",
    role: "http",
    prepare:
      async ({ url }) =>
      async () =>
        void (await call(`${url}/v1/games/trivia/categories`)),
  },
  login: {
    title: "POST /v1/gateway/login",
    role: "http",
    async prepare({ url }) {
      const [email, identifier] = ["ada@example.com", "ada"];
      await post(`${url}/v1/users`, { email, username: identifier, password });
      return async () => void (await post(`${url}/v1/gateway/login`, { identifier, password }));
    },
  },
  pick: {
    title: "POST /v1/games/trivia/lobbies/{code}/pick, with a stream that follows the lobby",
    role: "http",
    async prepare({ url }) {
      const host = await newPlayer(url, "Ada");
      const code = await createLobby(host, { mode: "coop", timer: 60, category: "random" });
      await joinLobby(await newPlayer(url, "Bea"), code);
      const stream = await host.listen(code);
      const started = await host.ask(code, "start");
      assert.equal(started.status, 200, JSON.stringify(started));
      let choice = 0;
      return async () => {
        choice = 1 - choice;
        const before = new Set(stream.frames);
        assert.equal(
          (await host.ask(code, "pick", { selected_index: choice, index: 0 })).status,
          204,
        );
        await stream.waitFor((frame) => !before.has(frame), "the pick");
      };
    },
  },
  import: {
    title: "a job of the queue codex-import, with one changed entity",
    role: "jobs",
    async prepare({ redisUrl, dataDir, operatorUrl, operatorToken }) {
      let stamp = 0;
      const file = join(dataDir, "walk.json");
      return async () => {
        stamp += 1;
        const changed = entity("id.item.a", { data: { stamp } });
        await writeEnvelopeFile(envelope({ entities: [changed] }), file);
        const queues = createQueues(redisUrl, silentLogger);
        const queue = queues.all().find(({ name }) => name === "codex-import");
        const id = `walk-${stamp}`;
        await queue?.add("codex-import", { game: "dungeon", envelope: file, stamp }, { jobId: id });
        await queues.close();
        const headers = { authorization: `Bearer ${operatorToken}` };
        const path = `${operatorUrl}/operator/jobs/codex-import/${id}`;
        for (;;) {
          const { body } = (await call(path, { headers })) as { body: { job: { state: string } } };
          if (body.job.state === "completed") return;
          assert.notEqual(body.job.state, "failed", JSON.stringify(body));
        }
      };
    },
  },
};
