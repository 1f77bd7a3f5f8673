import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import * as esbuild from "esbuild";
import { clientTypes, type OpenApiDocument } from "../../../../server/app/document-types.ts";
import { roomKinds } from "../../../../server/app/rooms.ts";
import { routes } from "../../../../server/app/routes.ts";
import { publicDocument } from "../../../../server/features/docs/openapi-route.ts";
import { hubRoutes } from "../../../../server/features/hub/routes.ts";
import { asset } from "../../../../server/platform/assets.ts";
import { bundleScripts } from "../../../../server/web/bundle.mjs";

/** What users of the client can import. A name that is missing here breaks them. */
const values = [
  "Emberline",
  "EmberlineError",
  "Seat",
  "Spectator",
  "createEventParser",
  "firstPauseMs",
  "foldLobby",
  "lobbyCode",
  "maxEventChars",
  "maxPauseMs",
  "pauseAfter",
  "randomKey",
  "silenceMs",
  "verifyReveal",
];
const types = [
  "AnswerResult",
  "CallOptions",
  "CatalogQuestion",
  "Clock",
  "EmberlineOptions",
  "EndReason",
  "Guest",
  "GuestStore",
  "Health",
  "HubAddress",
  "ListEvent",
  "Lobby",
  "LobbyEvent",
  "LobbyEventData",
  "Message",
  "NewLobby",
  "Player",
  "PlayerPick",
  "Question",
  "Result",
  "Reveal",
  "ReviewItem",
  "RoomEvent",
  "RoomKey",
  "SeatKey",
  "SeatRef",
  "SeatView",
  "Settings",
  "StreamOptions",
  "StreamState",
];

/** Names that the document of a service with these kinds of room declares. */
function typesOf(kinds: Partial<typeof roomKinds>): string[] {
  const others = routes.filter(({ path }) => path !== "/v1/hub");
  const document = publicDocument([...others, ...hubRoutes(kinds)]) as OpenApiDocument;
  return Array.from(clientTypes(document).matchAll(exported), ([, name = ""]) => name);
}

const built = new Map(
  bundleScripts(esbuild, asset("")).map(({ name, contents }) => [name, contents]),
);
const published: Readonly<Record<string, string>> = {
  "emberline.js": new TextDecoder().decode(built.get("client/emberline.js")),
  "emberline.ts": new TextDecoder().decode(built.get("client/emberline.ts")),
  "emberline.d.ts": readFileSync(asset("server/web/client/emberline.d.ts"), "utf8"),
};
const exported =
  /^export (?:declare |async |abstract )*(?:class|const|function|interface|type) (\w+)/gm;

describe("the published client", () => {
  for (const [file, text] of Object.entries(published))
    it(`is one file, which begins with what it is: ${file}`, () => {
      assert.match(text, /^\/\*!\n \* The trivia lobbies of an emberline service/);
      assert.equal(text.match(/^\/\*!/gm)?.length, 1);
      assert.doesNotMatch(text, /^import\b|\bimport\(|\brequire\(| from "/m);
    });

  for (const file of ["emberline.ts", "emberline.d.ts"])
    it(`exports these names and no other: ${file}`, () => {
      const names = Array.from(published[file]?.matchAll(exported) ?? [], ([, name]) => name);
      // The types of another kind come and go with it.
      const ofLobbies = typesOf({ lobbies: roomKinds.lobbies });
      const ofOthers = typesOf(roomKinds).filter((name) => !ofLobbies.includes(name));
      assert.deepEqual(names.toSorted(), [...values, ...types, ...ofOthers].toSorted());
    });

  it("exports these values and no other under their names: emberline.js", async () => {
    const script = Buffer.from(published["emberline.js"] ?? "").toString("base64");
    const client: Record<string, unknown> = await import(`data:text/javascript;base64,${script}`);
    assert.deepEqual(Object.keys(client).toSorted(), values.toSorted());
    for (const [name, value] of Object.entries(client))
      if (typeof value === "function") assert.equal(value.name, name);
  });
});
