import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLobby, newPlayer } from "../support/player.ts";
import { alertsOf, withoutPromtool, type Scrapes } from "../support/promtool.ts";
import { startService, type Service } from "../support/process.ts";
import { scrape, type Sample } from "../support/scrape.ts";
import { eventually } from "../support/eventually.ts";

const scrapeMs = 1_000;
const requestPauseMs = 20;
const workersOf = async (service: Service) =>
  (await service.processes()).filter(({ role }) => role === "http");

/** Scrapes a service with rooms and requests while one of its two HTTP workers is replaced. */
async function scrapesWhile(end: (pid: number) => void): Promise<Scrapes> {
  const service = await startService({ sharesPostgres: true, env: { HTTP_WORKERS: "2" } });
  const scrapes: Sample[][] = [];
  let isOver = false;
  try {
    for (let i = 0; i < 8; i++) {
      const host = await newPlayer(service.url, `Ada ${i}`);
      await createLobby(host, { category: "science", visibility: "public" });
    }
    const requests = (async () => {
      while (!isOver) {
        const answer = await fetch(`${service.url}/v1/health-check`).catch(() => null);
        await sleep(requestPauseMs);
        await answer?.body?.cancel();
      }
    })();
    const agent = (async () => {
      while (!isOver) {
        scrapes.push(await scrape(service));
        await sleep(scrapeMs);
      }
    })();
    await eventually("it has been scraped", () => scrapes.length >= 3);
    const [replaced] = await workersOf(service);
    assert.ok(replaced);
    end(replaced.pid);
    await eventually("another worker serves in its place", async () =>
      (await workersOf(service)).every(({ pid, is_ready }) => is_ready && pid !== replaced.pid),
    );
    const { length } = scrapes;
    await eventually("it has been scraped after that", () => scrapes.length >= length + 3);
    isOver = true;
    await Promise.all([requests, agent]);
  } finally {
    isOver = true;
    await service.stop();
  }
  return scrapes;
}

describe("the alerts on a real series of scrapes", { skip: withoutPromtool() }, () => {
  it("stay silent while an HTTP worker drains", async () => {
    const scrapes = await scrapesWhile((pid) => process.kill(pid, "SIGTERM"));
    const handoffs = (scrapes.at(-1) ?? []).filter(
      ({ name, labels }) =>
        name === "emberline_room_shard_handoffs_total" && labels["cause"] === "drained",
    );
    assert.ok(
      handoffs.some(({ value }) => value > 0),
      "its rooms were handed over",
    );
    assert.deepEqual(alertsOf(scrapes), []);
  });

  it("fire when an HTTP worker is killed", async () => {
    const scrapes = await scrapesWhile((pid) => process.kill(pid, "SIGKILL"));
    assert.deepEqual(alertsOf(scrapes), ["EmberlineTakeovers"]);
  });
});
