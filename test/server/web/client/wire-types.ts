import type { Static } from "typebox";
import type * as schemas from "../../../../server/features/lobbies/schemas.ts";
import type * as client from "../../../../server/web/client/emberline.ts";
import type { messageData } from "../../../../server/features/lobbies/messages.ts";

/**
 * Not executed: `npm run check` compiles it. A compile error means that the types of
 * server/web/client/emberline.ts differ from those the service declares.
 */
type Fits<A, B> = [A, keyof A] extends [B, keyof B] ? true : never;
type Same<A, B> = true extends Fits<A, B> & Fits<B, A> ? true : never;
type Messages = typeof messageData;

/** Each pair must be mutually assignable. */
export interface ClientFitsService {
  lobby: Same<client.Lobby, Static<typeof schemas.LobbyWire>>;
  view: Same<client.SeatView, Static<typeof schemas.LobbyAndPlayer>>;
  seat: Same<client.SeatRef, NonNullable<Static<typeof schemas.LobbyAndPlayer>["player"]>>;
  created: Same<
    { lobby: client.Lobby; player: client.SeatRef; player_token: string },
    Static<typeof schemas.Created>
  >;
  joined: Same<{ player: client.SeatRef; player_token: string }, Static<typeof schemas.Joined>>;
  answerResult: Same<client.AnswerResult, Static<typeof schemas.VersusResult>>;
  newLobby: Same<client.NewLobby, Static<typeof schemas.CreateBody>>;
  settings: Same<client.Settings, Static<typeof schemas.SettingsBody>>;
  answer: Same<Parameters<client.Seat["answer"]>[0], Required<Static<typeof schemas.AnswerBody>>>;
  pick: Same<Parameters<client.Seat["pick"]>[0], Required<Static<typeof schemas.PickBody>>>;
  events: Same<
    client.LobbyEventData,
    {
      [T in keyof Messages]: T extends "lobby.gap" ? Record<string, never> : Static<Messages[T]>;
    }
  >;
}

/** A pair that differs is `never`, to which `true` cannot be assigned. */
export const clientFitsService: ClientFitsService = {
  lobby: true,
  view: true,
  seat: true,
  created: true,
  joined: true,
  answerResult: true,
  newLobby: true,
  settings: true,
  answer: true,
  pick: true,
  events: true,
};
