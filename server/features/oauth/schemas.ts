import Type from "typebox";

const text = (description: string) => Type.Optional(Type.String({ description }));

/** Parameters of a program (RFC 6749, RFC 7636); the library validates them. */
export const AuthorizeQuery = Type.Object({
  client_id: text("who asks"),
  redirect_uri: text(
    "one of the registered addresses, compared exactly; native clients choose the port of a loopback address",
  ),
  response_type: text("code"),
  scope: text("openid, profile, email, offline_access"),
  state: text("returned unchanged"),
  nonce: text("contained in the ID token"),
  code_challenge: text("S256 of the verifier"),
  code_challenge_method: text("S256"),
  prompt: text("consent, login (forces a new sign-in) or none"),
  max_age: text("maximum seconds since the player signed in"),
});

export const TokenForm = Type.Object({
  grant_type: Type.String({ description: "authorization_code or refresh_token" }),
  code: text("code of the redirect; usable once, within 60 s"),
  redirect_uri: text("the same as in the authorization"),
  code_verifier: text("verifier of the code_challenge"),
  refresh_token: text("replaced if the response contains a new one"),
  client_id: text("with the secret, or of a public client"),
  client_secret: text("of a confidential client that does not use HTTP Basic"),
});

export const RevokeForm = Type.Object({
  token: Type.String(),
  token_type_hint: text("access_token or refresh_token"),
  client_id: text("with the secret, or of a public client"),
  client_secret: text("of a confidential client that does not use HTTP Basic"),
});

export const UserinfoForm = Type.Object({
  access_token: text("instead of the Authorization header (RFC 6750, 2.2)"),
});

export const ConsentParams = Type.Object({ uid: Type.String({ pattern: "^[\\w-]{8,64}$" }) });

export const ConsentQuestion = Type.Object({
  client_name: Type.String(),
  realm: Type.String(),
  scopes: Type.Array(Type.String()),
  must_sign_in: Type.Boolean({
    description: "true if the player must sign in again for this request",
  }),
});

export const ConsentAnswer = Type.Object({ is_allowed: Type.Boolean() });
export const ConsentResult = Type.Object({ redirect: Type.String({ format: "uri" }) });
