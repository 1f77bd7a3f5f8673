import { get, type Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const limitMs = 10_000;
const pauseMs = 5;

export interface RepeatedRequests {
  /** Number of requests by status, or by the reason why there was no answer. */
  end(): Promise<Map<string, number>>;
}

/** Sends one request after the other, without retries; without an agent each has its own connection. */
export function askRepeatedly(url: string, agent?: Agent): RepeatedRequests {
  const answers = new Map<string, number>();
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const answer = await statusOf(url, agent).catch((error: Error) => error.message);
      answers.set(String(answer), (answers.get(String(answer)) ?? 0) + 1);
      await sleep(pauseMs);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await asking;
      return answers;
    },
  };
}

/** Status of a GET; rejects when the connection is refused or reset. */
function statusOf(url: string, agent?: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: agent ?? false, timeout: limitMs }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    request.once("timeout", () => request.destroy(new Error("no answer")));
    request.once("error", reject);
  });
}
