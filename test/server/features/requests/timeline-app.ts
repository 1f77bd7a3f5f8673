import assert from "node:assert/strict";
import { createFaultStore } from "../../../../server/features/faults/domain/fault-store.ts";
import { createRequestStore } from "../../../../server/features/requests/domain/request-store.ts";
import { requestRoutes, type RequestsDeps } from "../../../../server/operator/requests/routes.ts";
import type { TimelineBody } from "../../../../server/operator/requests/schemas.ts";
import {
  createTimelines,
  type TimelineOptions,
} from "../../../../server/operator/requests/service.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { systemClock } from "../../../../server/platform/time/clock.ts";
import { createQueues } from "../../../../workers/producer.ts";
import { startApp } from "../../../support/app.ts";
import { startChatServer } from "../../../support/chat-server.ts";
import { eventually } from "../../../support/eventually.ts";
import { startMailServer } from "../../../support/mail-server.ts";
import { answerOf } from "../../operator/call-route.ts";

export const idOf = (response: Response): string =>
  response.headers.get("x-request-id") ?? assert.fail();

/** The service with a mail server, a generator that answers 500 with `words`, and the page of requests. */
export async function startTimelineApp(words: string) {
  const generator = await startChatServer();
  generator.script({ status: 500, body: words });
  const mails = await startMailServer({ disabledCommands: ["STARTTLS"] });
  const app = await startApp({
    env: {
      ...{ GENERATOR_URL: generator.url, GENERATOR_VERIFY: "false" },
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    },
  });
  const queues = createQueues(app.stores.redisUrl, silentLogger);
  const parts: TimelineOptions = {
    requests: createRequestStore(app.deps.redis, systemClock),
    faults: createFaultStore(app.deps.redis, systemClock),
    queues: queues.all(),
    open: async () => app.deps.orm,
  };
  let lastPlayer = 0;

  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(app.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const read = (id: string, headers = {}, changed: Partial<TimelineOptions> = {}) => {
    const deps = createTimelines({ ...parts, ...changed });
    const path = `/operator/requests/${id}`;
    return answerOf<RequestsDeps, TimelineBody>(requestRoutes, deps, path, { headers });
  };
  return {
    ...{ app, mails, send, read },
    /** The page for people. */
    pageOf: async (id: string, changed: Partial<TimelineOptions> = {}) =>
      (await read(id, { accept: "text/html" }, changed)).text,
    /** The timeline once it is as expected. */
    async timelineOf(id: string, is: (body: TimelineBody) => boolean): Promise<TimelineBody> {
      let found: TimelineBody | undefined;
      await eventually(`the timeline of ${id}`, async () => {
        const { status, body } = await read(id);
        found = status === 200 ? body : undefined;
        return found !== undefined && is(found);
      });
      return found ?? assert.fail();
    },
    /** Signs up a player; the request id and the address. */
    async register(headers: Record<string, string> = {}) {
      const name = `player${++lastPlayer}`;
      const email = `${name}@example.com`;
      const account = { email, username: name, password: "correct horse 9" };
      const response = await send("/v1/users", account, headers);
      assert.equal(response.status, 201);
      return { id: idOf(response), email };
    },
    async stop() {
      await queues.close();
      await app.stop();
      await mails.stop();
      await generator.stop();
    },
  };
}
