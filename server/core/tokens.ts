/** Purpose of a token = its audience = its key (TOK-01, TOK-02). */
export type TokenType =
  | "access" | "refresh" | "passport" | "password_reset" | "email_verify" | "reclaim" | "hub" | "lobby";

export interface TokenClaims {
  sub: string;
  aud: TokenType;
  jti: string;
  /** Seconds since the epoch. */
  iat: number;
  exp: number;
  /** access */
  roles?: string[];
  realm?: string;
  name?: string;
  /** access, refresh: session family id and (refresh) generation. */
  fam?: string;
  gen?: number;
  /** hub, lobby */
  lobby?: string;
  lobby_player?: number;
  subscribe?: string[];
}

export interface TokenService {
  sign(type: TokenType, subject: string, seconds: number, claims?: Partial<TokenClaims>): string;
  /** The claims, or null for anything that is not a valid, unexpired token of exactly this type. */
  verify(type: TokenType, token: string): TokenClaims | null;
}
