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
        "hub token, for clients that can send neither the header nor the cookie; several separated by commas, beside those of header and cookies (at most 16)",
    }),
  ),
  lastEventID: Type.Optional(
    Type.String({ description: "for clients that cannot send the header Last-Event-ID" }),
  ),
});

/** HUB-09 */
export const JointTokenBody = Type.Object({
  tokens: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
    minItems: 1,
    maxItems: 16,
    description: "seat tokens and hub tokens, for at most 16 topics and seats together",
  }),
});
export const JointToken = Type.Object(
  {
    token: Type.String({ description: "as bearer or `authorization` of GET /v1/hub" }),
    topics: Type.Array(Type.String()),
    expires_in: Type.Integer({ description: "seconds, until the first of the given tokens ends" }),
  },
  { title: "JointHubToken" },
);
