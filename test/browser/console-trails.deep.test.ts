import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../support/browser.ts";
import { startChatServer, type ChatServer } from "../support/chat-server.ts";
import { eventually } from "../support/eventually.ts";
import { createLobby, newPlayer } from "../support/player.ts";
import { startService, type Service } from "../support/process.ts";
import { Operator } from "./console-page.ts";

const words = "the model is overloaded, ask again after lunch";

describe("from what a player reports to its cause, by clicks", () => {
  let browser: Browser | null;
  let model: ChatServer;
  let service: Service;
  let ada: Operator;

  before(async () => {
    browser = await sharedBrowser();
    model = await startChatServer();
    model.script({ status: 500, body: words });
    service = await startService({
      env: { HTTP_WORKERS: "2", GENERATOR_URL: model.url, RATE_LIMIT_FACTOR: "0" },
      sharesPostgres: true,
    });
    if (browser) ada = await Operator.signIn(browser, service);
  });
  after(async () => {
    if (browser) await ada.close();
    await service.stop();
    await model.stop();
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const shows = (text: string) => ada.page.getByText(text).first().waitFor();

  it("leads from the id of a 503 to the words of the generator in two clicks", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const guest = await post("/v1/gateway/guest", {});
    const session = (await guest.json()) as { body: { access_token: string } };
    const refused = await post(
      "/v1/games/trivia/questions/generate",
      { category: "film", prompt: "zxqwv" },
      { authorization: `Bearer ${session.body.access_token}` },
    );
    assert.equal(refused.status, 503);
    await find(refused.headers.get("x-request-id") ?? "");
    await shows(words);
    assert.ok(ada.takeClicks() <= 2);
    await ada.takePicture("request");
    await ada.isWholeWhenNarrow();
  });

  it("leads from the id of a sign-up to its mail in two clicks", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const person = { email: "grace@example.com", username: "grace", password: "correct horse 1" };
    const made = await post("/v1/users", person);
    assert.equal(made.status, 201);
    await find(made.headers.get("x-request-id") ?? "");
    await shows("verify-email");
    assert.ok(ada.takeClicks() <= 2);
    assert.ok(!(await ada.page.content()).includes(person.email));
  });

  it("leads from a player's name to the frozen worker of the room in four clicks", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    const { page } = ada;
    const player = await newPlayer(service.url, "Grace");
    const code = await createLobby(player, { category: "science" });
    const owner = await ownerOf(code);
    process.kill(owner, "SIGSTOP");
    await eventually("the room has another owner", async () => (await ownerOf(code)) !== owner);
    await ada.search(await nameOf(player.accountId));
    await ada.click(page.getByRole("link", { name: code }).first());
    await shows("its process was frozen");
    await ada.takePicture("room");
    await ada.isWholeWhenNarrow();
    await ada.click(page.locator('a[href*="/operator/workers/events"]').first());
    await page.getByRole("heading", { name: "Events of processes" }).waitFor();
    assert.ok(ada.takeClicks() <= 4);
  });

  /** Searches for the id, at first in vain: processes write what they keep once a second. */
  async function find(id: string): Promise<void> {
    await eventually("the request is kept", async () => {
      const answer = await asOperator(`/operator/requests/${id}`);
      const body = answer.status === 200 ? await answer.text() : "";
      return body.includes('"failures":[{') || body.includes('"messages":[{');
    });
    await ada.go("/operator");
    await ada.search(id);
  }

  /** Pid of the process that holds the room; 0 while none does. */
  async function ownerOf(code: string): Promise<number> {
    const answer = await asOperator(`/operator/rooms/lobby/${code}`);
    if (answer.status !== 200) return 0;
    const { body } = (await answer.json()) as { body: { room: { owners: { process: string }[] } } };
    // Such as http-1@x7k2m9q4w1ab.
    const index = /^http-(\d+)@/.exec(body.room.owners[0]?.process ?? "")?.[1];
    const found = (await service.processes()).find(
      (each) => each.role === "http" && each.index === Number(index),
    );
    return found?.pid ?? 0;
  }

  async function nameOf(id: number): Promise<string> {
    const answer = await asOperator(`/operator/players/${id}`);
    return ((await answer.json()) as { body: { player: { name: string } } }).body.player.name;
  }

  const asOperator = (path: string) =>
    fetch(`${service.operatorUrl}${path}`, {
      headers: { authorization: `Bearer ${service.operatorToken}` },
    });
});
