import { newPlayer } from "../test/support/player.ts";
import type { Service } from "../test/support/process.ts";
import { measureRequests, startEcho, type Measured, type Measurement } from "./closed/measure.ts";
import { requestText } from "./raw-request.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { projectedGame } from "./needs.ts";
import { treeByKind } from "./processes.ts";
import { verdict, type Table } from "./report.ts";
import { ownerPort, pickRequest, startGames } from "./rooms/games.ts";
import { withService } from "./service.ts";

const connections = 64;
const listPath = "/v2/items?limit=50";

export const scenarios: Scenarios = {
  all: {
    about: "requests through the complete pipeline, and a committed lobby pick",
    async run({ isQuick }) {
      const seconds = isQuick ? 2 : 6;
      const title = `http: ${connections} connections, ${seconds} s each`;
      return [tableOf(title, await measureAll(seconds))];
    },
  },
};

/** A row, its baseline, and the maximum ratio of processor time. */
type Compared = [row: Measured, against?: Measured, limit?: number];

async function measureAll(seconds: number): Promise<Compared[]> {
  const local = await withService(1, (service) => measureLocal(service, seconds));
  const forwarded = await withService(2, (service) => measureForwarded(service, seconds), {
    WORKER_PORTS: "auto",
  });
  const [echo, listEcho] = await Promise.all([startEcho(), startEcho(local.listBytes)]);
  const measure = ({ url, pid }: typeof echo, name: string, request: string, perSecond?: number) =>
    measureRequests({
      ...{ name, seconds, urls: each(url), requests: each(request), pids: [pid] },
      ...(perSecond !== undefined && { perSecond }),
    });
  try {
    const headers = { authorization: `Bearer ${"x".repeat(300)}` };
    const get = requestText("GET", "/", { headers });
    const post = requestText("POST", "/", {
      headers: { "x-lobby-token": "x".repeat(300) },
      body: { selected_index: 1 },
    });
    const echoGet = await measure(echo, "raw echo GET", get);
    const echoList = await measure(listEcho, `raw echo GET of ${local.listBytes} bytes`, get);
    const echoPost = await measure(echo, "raw echo POST", post);
    // Sending to an idle client costs several times as much as to a busy one, so the echo is also measured at
    // the rate of the committed picks.
    const name = "raw echo POST, at the rate of local picks";
    const pacedPost = await measure(echo, name, post, local.pick.perSecond);
    return [
      [echoGet],
      [local.publicGet, echoGet, 1.8],
      [local.authedGet, echoGet, 2],
      [echoList],
      [local.list, echoList, 2],
      [echoPost],
      [pacedPost, echoPost],
      [local.pick, pacedPost, 3.5],
      [forwarded, pacedPost],
    ];
  } finally {
    await Promise.all([echo.stop(), listEcho.stop()]);
  }
}

const each = (value: string): string[] => Array.from({ length: connections }, () => value);

function measureService(
  { url, pid }: Service,
  given: Pick<Measurement, "name" | "requests" | "seconds"> & { urls?: string[] },
): Promise<Measured> {
  const { "HTTP worker": pids = [], Redis: redisPids = [] } = treeByKind(pid);
  return measureRequests({ urls: each(url), ...given, pids, redisPids });
}

async function measureLocal(service: Service, seconds: number) {
  await projectedGame.provide(service);
  const player = await newPlayer(service.url, "Bench");
  const headers = { authorization: `Bearer ${player.accessToken}` };
  const get = (name: string, path: string, given = {}) => {
    const requests = each(requestText("GET", path, { headers: given }));
    return measureService(service, { name, requests, seconds });
  };
  const listBytes = (await (await fetch(service.url + listPath)).text()).length;
  const publicGet = await get("public GET", "/v1/games/trivia/categories");
  const authedGet = await get("authenticated GET", "/v1/tokens/validate", headers);
  const list = await get("cached list of 50", listPath);
  // Started now, because a question is open for a minute only.
  const seats = await startGames(service.url, connections);
  const requests = seats.slice(0, connections).map(pickRequest);
  const pick = await measureService(service, { name: "committed pick, local", requests, seconds });
  return { listBytes, publicGet, authedGet, list, pick };
}

/** Every connection goes to another process than the one that owns the lobby of its picks. */
async function measureForwarded(service: Service, seconds: number): Promise<Measured> {
  const seats = (await startGames(service.url, connections)).slice(0, connections);
  const owners = await Promise.all(seats.map(ownerPort));
  const ports = [...new Set(owners)];
  const urls = owners.map((owner) => {
    const other = ports.find((port) => port !== owner);
    if (other === undefined) throw new Error("one process owns all lobbies");
    return `http://127.0.0.1:${other}`;
  });
  const requests = seats.map(pickRequest);
  const name = "committed pick, forwarded";
  return measureService(service, { name, requests, urls, seconds });
}

/** Rows with their ratios of processor time and rate to their baselines. */
function tableOf(title: string, rows: readonly Compared[]): Table {
  return {
    title: `${title}; worker us = CPU of the HTTP workers per request`,
    head: [
      ...["scenario", "req/s", "p50 ms", "p99 ms", "worker us", "Redis us"],
      ...["vs echo", "rate vs echo", "target", "answers"],
    ],
    rows: rows.map(([row, against, limit]) => {
      const ratio = row.workerMicros / (against?.workerMicros ?? row.workerMicros);
      const rate = row.perSecond / (against?.perSecond ?? row.perSecond);
      return [
        ...[row.name, row.perSecond.toFixed(0), row.p50Ms.toFixed(2), row.p99Ms.toFixed(2)],
        row.workerMicros.toFixed(1),
        row.redisMicros > 0 ? row.redisMicros.toFixed(1) : "",
        ...(against ? [`${ratio.toFixed(2)}x`, `${rate.toFixed(2)}x`] : ["", ""]),
        limit === undefined ? "" : verdict(ratio, { limit, unit: "x" }),
        Object.entries(row.statuses)
          .map(([status, number]) => `${status}:${number}`)
          .join(" "),
      ];
    }),
  };
}
