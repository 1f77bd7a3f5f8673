/** The caller named by the access token (TOK-03). */
export interface Caller {
  playerId: number;
  name: string;
  roles: string[];
  isGuest: boolean;
  /** Slug of the realm the session was opened in (TOK-14). */
  realm: string;
  /** Token family (session) id. */
  family: string;
  /** End of the access token, seconds since the epoch. */
  expiresAt: number;
}

/** Caller of a route of a room: the token of a seat names the seat, a bearer token the player (LOB-01). */
export interface SeatCaller {
  seatId: number | null;
  player: Caller | null;
  /** The seat comes from the cookie; a bearer token of a player in the room has precedence. */
  isCookieSeat: boolean;
}

/** Roles of operators; each one includes those before it (OPS-02). */
export const operatorRoles = ["viewer", "operator", "admin"] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** A caller of the operator listener. */
export interface OperatorCaller {
  name: string;
  role: OperatorRole;
}
