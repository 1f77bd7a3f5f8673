import { Emberline, silenceMs, type Clock } from "../../../../server/web/client/emberline.ts";
import { answer, refusal, startFaulty } from "./faulty-service.ts";

type Handle = Parameters<typeof startFaulty>[0];

export type Response = Parameters<Handle>[0];

/**
 * Pauses pass immediately and are recorded; the watchdog of a silent connection fires on request of the
 * test.
 */
export function streamClock() {
  const pauses: number[] = [];
  const watches = new Set<() => void>();
  let elapsed = 0;
  let wallStart = 1_700_000_000_000;
  const clock: Clock = {
    now: () => wallStart + elapsed,
    elapsed: () => elapsed,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          watches.delete(wake);
          resolve();
        };
        signal?.addEventListener("abort", wake);
        if (ms < silenceMs && ms !== tryMs && ms !== beatMs) {
          pauses.push(ms);
          setImmediate(wake);
        } else watches.add(wake);
      }),
  };
  const pass = (ms: number) => {
    elapsed += ms;
    for (const wake of watches) wake();
  };
  const setBack = (ms: number) => (wallStart -= ms);
  return { clock, pauses, pass, setBack };
}

export const tryMs = 8_000;
export const beatMs = 30_000;

export const lobby = (seq: number, status = "waiting") => ({
  code: "ABC234",
  seq,
  status,
  hub: { topic: "/games/trivia/lobby/ABC234" },
});

export const frame = (type: string, seq: number, data: unknown) =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ type, seq, data })}\n\n`;

export const stream = (response: Response, text: string) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(text);
  return response;
};

export const answerStatus = (response: Response, now: object | null, picks: object[] = []) =>
  now === null
    ? answer(response, 500, refusal("server:error"))
    : answer(response, 200, { body: { lobby: now, picks } });

export const key = { code: "ABC234", token: "seat", playerId: 7 };

/** Answers everything except the stream like the lobby; streams go to `hub`, numbered from 1. */
export async function seatAt(
  hub: (response: Response, lastEventId: string | undefined, n: number) => void,
  readLobby: () => object | null = () => lobby(1),
  picks: object[] = [],
) {
  let streams = 0;
  let tokens = 0;
  const service = await startFaulty((response, { path, lastEventId }) => {
    if (path.endsWith("/status")) return answerStatus(response, readLobby(), picks);
    if (path.endsWith("/heartbeat")) return answer(response, 200, { body: { ok: true } });
    if (!path.endsWith("/token")) return hub(response, lastEventId, ++streams);
    response.writeHead(204, { "X-Hub-Token": `hub-${++tokens}` }).end();
  });
  const time = streamClock();
  const client = new Emberline({ url: service.url, clock: time.clock });
  return { service, seat: client.seat(key), time, tokens: () => tokens };
}
