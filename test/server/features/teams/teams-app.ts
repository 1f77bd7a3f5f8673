import assert from "node:assert/strict";
import { after, before } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter, registerAccount, tokenOf, uniqueName } from "../../../support/identity.ts";

export interface Team {
  id: number;
  name: string;
  join_code?: string;
  owner_id: number;
  num_members: number;
  created_at: string;
}

export const base = "/v1/games/trivia/teams";
export let app: App;
export let clock = manualClock();

export async function member(isGuest = false) {
  const session = isGuest ? await enter(app) : (await registerAccount(app)).session;
  const headers = tokenOf(session);
  const call = async (method: string, path = "", body?: unknown) => {
    const {
      status,
      body: answer,
      json,
    } = await app.client.request(method, base + path, {
      headers,
      body,
    });
    const code = (json as { flash?: { errors?: { code: string }[] } })?.flash?.errors?.[0]?.code;
    return { status, code, team: (answer as { team: Team } | undefined)?.team, body: answer };
  };
  return {
    id: session.player.id,
    headers,
    call,
    own: async () => (await call("GET", "/@me")).team ?? null,
    found: async (name = uniqueName()) => {
      const { team } = await call("POST", "", { name });
      assert.ok(team);
      return { ...team, join_code: team.join_code ?? "" };
    },
    join: (join_code: string) => call("POST", "/join", { join_code }),
  };
}

/** The service, with a clock that only moves when set. */
export function startsTeamsApp(): void {
  before(async () => {
    clock = manualClock();
    app = await startApp({ clock, hasJobs: false });
  });
  after(() => app.stop());
}
