import { insist, type Answer } from "../../test/support/insist.ts";

export const lobbies = "/v1/games/trivia/lobbies";

export interface WaitingLobby {
  path: string;
  /** Those of its host. */
  headers: Record<string, string>;
}

/** A lobby of a new guest, which nobody starts. */
export async function openLobby(url: string): Promise<WaitingLobby> {
  const guest = { method: "POST", path: "/v1/gateway/guest", body: {} } as const;
  const { body: session } = ok(await insist(url, guest));
  const headers = { authorization: `Bearer ${String(session["access_token"])}` };
  const body = { hostName: "Host", mode: "coop", numQuestions: 5 };
  const made = ok(await insist(url, { method: "POST", path: lobbies, headers, body }));
  return { path: `${lobbies}/${(made.body["lobby"] as { code: string }).code}`, headers };
}

export function ok(answer: Answer): Answer {
  if (answer.status < 300) return answer;
  throw new Error(`${answer.status} ${answer.code}`);
}
