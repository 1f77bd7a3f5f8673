import Type from "typebox";

/** Parameters of a subscription (HUB-01, HUB-02, HUB-06); the handler reads them itself. */
export const SubscribeQuery = Type.Object({
  topic: Type.String({
    description: "once: /games/trivia/lobbies, or /games/trivia/lobby/{code}",
  }),
  also: Type.Optional(
    Type.Array(Type.String(), { maxItems: 15, description: "further topics of the same stream" }),
  ),
  authorization: Type.Optional(
    Type.String({
      description:
        "hub token, for clients that can send neither the header nor the cookie; several separated by commas",
    }),
  ),
  lastEventID: Type.Optional(
    Type.String({ description: "for clients that cannot send the header Last-Event-ID" }),
  ),
});
