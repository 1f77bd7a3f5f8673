import { commandNumber } from "../rooms/http-link.ts";

/** A message in the format of a lobby's, of the size of most of a game: picks and answers. */
export const eventMessage = {
  type: "lobby.answer",
  topic: "/games/trivia/lobby/2ABCDE",
  seq: commandNumber,
  at_ms: 1_700_000_000_000,
  data: { pad: "x".repeat(190) },
};
