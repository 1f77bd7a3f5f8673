import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { freePorts } from "../support/free-port.ts";
import { atQuestion, createGame, joinByCode, playPage, revealed } from "../support/play-page.ts";

const numWorkers = 2;
const firstPort = await freePorts(numWorkers);
const workerUrls = Array.from(
  { length: numWorkers },
  (_, i) => `http://127.0.0.1:${firstPort + i}/`,
);
const isAtWorker = (asked: string) => workerUrls.some((url) => asked.startsWith(url));

describe("the play page of a service with a port for each worker", () => {
  const { serve, withTwo } = playPage({
    env: {
      RATE_LIMIT_FACTOR: "0",
      HTTP_WORKERS: String(numWorkers),
      WORKER_PORTS: String(firstPort),
    },
    isOurs: isAtWorker,
  });
  serve();

  it("plays a game at the port of the owner, by the rules that browsers have for other origins", async (t) => {
    await withTwo(t, async (host, friend) => {
      const asked: string[] = [];
      for (const { page } of [host, friend])
        page.on("request", (request) => asked.push(`${request.method()} ${request.url()}`));
      const answered: string[] = [];
      host.page.on("response", (response) => {
        if (response.ok() && isAtWorker(response.url())) answered.push(response.url());
      });
      const code = await createGame(host, { name: "Ada", mode: "versus", questions: 1 });
      await joinByCode(friend, "Grace", code);
      await host.page.locator("#waiting-players").getByText("Grace").waitFor();
      await host.page.getByRole("button", { name: "Start the game" }).click();
      await Promise.all([atQuestion(host, 1), atQuestion(friend, 1)]);
      await host.page.keyboard.press("1");
      await friend.page.locator("#playing-players").getByText("answered").waitFor();
      await friend.page.keyboard.press("3");
      assert.equal(await revealed(host), await revealed(friend));
      const answers = asked.filter((one) => one.startsWith("POST") && one.endsWith("/answer"));
      assert.equal(answers.length, 2);
      for (const one of answers) assert.ok(isAtWorker(one.replace("POST ", "")), one);
      assert.ok(
        answered.some((url) => url.includes("/v1/hub?")),
        answered.join(" "),
      );
    });
  });
});
