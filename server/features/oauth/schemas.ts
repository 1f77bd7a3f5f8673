import Type from "typebox";

const text = (description: string) => Type.Optional(Type.String({ description }));

/** Parameters of a program (RFC 6749, RFC 7636); the library validates them. */
export const AuthorizeQuery = Type.Object({
  client_id: text("who asks"),
  redirect_uri: text(
    "one of the registered addresses, letter by letter; programs on devices choose the port of a loopback address",
  ),
  response_type: text("code"),
  scope: text("openid, profile, email, offline_access"),
  state: text("comes back as it is"),
  nonce: text("stands in the id token"),
  code_challenge: text("of the verifier, by S256"),
  code_challenge_method: text("S256"),
  prompt: text("consent, login (signs in anew) or none"),
  max_age: text("seconds since the player signed in, at most"),
});

export const TokenForm = Type.Object({
  grant_type: Type.String({ description: "authorization_code or refresh_token" }),
  code: text("of the redirect, once, within 60 s"),
  redirect_uri: text("the same as in the authorization"),
  code_verifier: text("what code_challenge was made of"),
  refresh_token: text("replaced at each use where the answer has a new one"),
  client_id: text("with the secret, or of a public client"),
  client_secret: text("of a confidential client that does not use HTTP Basic"),
});

export const RevokeForm = Type.Object({
  token: Type.String(),
  token_type_hint: text("access_token or refresh_token"),
  client_id: text("with the secret, or of a public client"),
  client_secret: text("of a confidential client that does not use HTTP Basic"),
});

export const ConsentParams = Type.Object({ uid: Type.String({ pattern: "^[\\w-]{8,64}$" }) });

export const ConsentQuestion = Type.Object({
  client_name: Type.String(),
  realm: Type.String(),
  scopes: Type.Array(Type.String()),
  must_sign_in: Type.Boolean({ description: "a session from before this request will not do" }),
});

export const ConsentAnswer = Type.Object({ is_allowed: Type.Boolean() });
export const ConsentResult = Type.Object({ redirect: Type.String({ format: "uri" }) });
