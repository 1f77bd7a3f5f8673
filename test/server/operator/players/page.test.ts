import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { operatorRoles, type OperatorRole } from "../../../../server/http/auth/auth.ts";
import type { PlayerView } from "../../../../server/features/accounts/domain/player-service.ts";
import { roomsOfPlayer } from "../../../../server/operator/players/rooms.ts";
import { playerRoutes, type PlayersDeps } from "../../../../server/operator/players/routes.ts";
import { answerOf } from "../call-route.ts";

const headers = { accept: "text/html" };
const evil = "<img src=x onerror=alert(1)>";
const player: PlayerView = {
  ...{ id: 7, name: evil, is_guest: false, realm: "default", email: "ada@example.com" },
  ...{ email_verified_at: null, phone_verified_at: null, last_login_at: null },
  ...{ created_at: "2026-03-01T12:00:00+00:00", deleted_at: null, purged_at: null },
  ...{ num_sessions: 2, locked_seconds: 30 },
};
const room = { kind: "lobby", code: "ABCDEF", seatId: 3, atMs: 1_700_000_000_000 };

const depsWith = (given: { view?: Partial<PlayerView>; rooms?: "away" | "none" } = {}) => {
  const rooms = { away: null, none: [] };
  const deps: PlayersDeps = {
    players: {
      find: async () => [],
      describe: async () => ({ ...player, ...given.view }),
      change: async () => ({ id: 7, name: evil, is_locked: false }),
    },
    playerRooms: async () => (given.rooms ? rooms[given.rooms] : [{ ...room, isHeld: true }]),
  };
  return deps;
};
const open = async (role: OperatorRole = "operator", given?: Parameters<typeof depsWith>[0]) =>
  (await answerOf(playerRoutes, depsWith(given), "/operator/players/7", { role, headers })).text;
const changesIn = (text: string) =>
  [...text.matchAll(/formaction="([^"]+)"/g)].map(([, to]) => to?.split("/").at(-1));

describe("the page of a player", () => {
  it("shows state, sessions, lock and a link to each room", async () => {
    const text = await open();
    assert.match(text, /Sessions<\/td>\s*<td>2</);
    assert.match(text, /for 30 s after failed sign-ins/);
    assert.match(text, /href="\/operator\/rooms\/lobby\/ABCDEF">ABCDEF</);
  });

  it("shows a viewer a part of the address, and escapes the name", async () => {
    const text = await open("viewer");
    assert.ok(text.includes("a***@example.com") && !text.includes("ada@example.com"));
    assert.ok((await open("operator")).includes("ada@example.com"));
    assert.ok(text.includes("&#60;img") && !text.includes("<img"));
  });

  for (const role of operatorRoles)
    it(`offers ${role} only changes that role may make and that have an effect`, async () => {
      const may = (verbs: string[]) => (role === "viewer" ? [] : verbs);
      assert.deepEqual(changesIn(await open(role)), may(["unlock", "revoke-sessions"]));
      const closed = { deleted_at: player.created_at, num_sessions: 0, locked_seconds: 0 };
      assert.deepEqual(changesIn(await open(role, { view: closed })), may(["restore"]));
    });

  it("returns to itself after a change", async () => {
    const { status } = await answerOf(playerRoutes, depsWith(), "/operator/players/7/unlock", {
      ...{ method: "POST", headers },
      body: { reason: "called" },
    });
    assert.equal(status, 303);
  });

  it("says what is unknown while Redis is away, and that there are no rooms", async () => {
    assert.match(await open("viewer", { rooms: "away" }), /Redis does not respond: rooms/);
    assert.match(await open("viewer", { rooms: "none" }), /Rooms now<\/h2>\s*<p>None\./);
  });
});

describe("the rooms of a player", () => {
  const seats = async () => [room, { ...room, code: "GIVEN" }, { ...room, code: "LOST" }];

  it("leave out seats that were given up, and keep those nobody answers for", async () => {
    const held = async () => [
      [{ kind: "lobby", code: "ABCDEF", seatId: 3, isHeld: true }],
      [{ kind: "lobby", code: "GIVEN", seatId: 3, isHeld: false }],
    ];
    const found = await roomsOfPlayer({ seats, held }, 7);
    assert.deepEqual(
      found?.map(({ code, isHeld }) => [code, isHeld]),
      [
        ["ABCDEF", true],
        ["LOST", null],
      ],
    );
  });

  it("are unknown without Redis", async () => {
    const held = async () => [];
    assert.equal(await roomsOfPlayer({ seats: async () => null, held }, 7), null);
  });
});
