import type { Lobby, LobbyCommand } from "../../actors/lobby/types.ts";
import { anyCommand } from "./commands.ts";
import { maxPlayers } from "./ledger.ts";
import { by, createCommand, newSeat, type Opening } from "./openings.ts";
import type { World } from "./world.ts";

/** Chooses the commands of one client: mostly ones that advance the game, sometimes any. */
export class Chooser {
  /** The draw requested by the last `prepare`. */
  plan: { revision: number; count: number } | null = null;
  readonly #world: World;
  readonly #code: string;
  readonly #opening: Opening;
  readonly #seatId: number;
  readonly #isHost: boolean;
  #hasJoined: boolean;

  constructor(
    world: World,
    given: { code: string; opening: Opening; seatId: number; isHost: boolean; isSeated: boolean },
  ) {
    this.#world = world;
    this.#code = given.code;
    this.#opening = given.opening;
    this.#seatId = given.seatId;
    this.#isHost = given.isHost;
    this.#hasJoined = given.isSeated;
  }

  /** The client's next command for this state of the lobby; `count` distinguishes its commands. */
  choose(lobby: Lobby | null, count: number): LobbyCommand {
    const { random, sabotage } = this.#world;
    const me = by(this.#seatId);
    if (!lobby)
      return this.#isHost
        ? createCommand(this.#code, this.#opening, sabotage.seatBound ?? maxPlayers)
        : { type: "read", ...me };
    if (random.is(0.2)) return anyCommand({ me, isHost: this.#isHost, lobby, random });
    const isSeated = lobby.seats.some((seat) => seat.id === this.#seatId);
    if (!isSeated) return this.#joinOnce();
    if (lobby.status === "waiting")
      return this.#isHost ? this.#chooseStart(count) : { type: "read", ...me };
    return this.#chooseMove(lobby);
  }

  /** Seat numbers are never reused, so a player who left or was refused only watches. */
  #joinOnce(): LobbyCommand {
    const me = by(this.#seatId);
    if (this.#hasJoined) return { type: "read", ...me };
    this.#hasJoined = true;
    return { type: "join", seat: newSeat(this.#seatId), ...me };
  }

  #chooseStart(count: number): LobbyCommand {
    const { random } = this.#world;
    const me = by(this.#seatId);
    if (random.is(0.3)) return { type: "settings", changes: { prompt: `${count}` }, ...me };
    const plan = this.plan;
    this.plan = null;
    if (!plan) return { type: "prepare", ...me };
    const questions = Array.from({ length: plan.count }, () => this.#world.newQuestion());
    return { type: "start", revision: plan.revision, questions, ...me };
  }

  #chooseMove(lobby: Lobby): LobbyCommand {
    const { random } = this.#world;
    const me = by(this.#seatId);
    const { round } = lobby;
    const index = random.is(0.8) ? (round?.index ?? null) : null;
    const selectedIndex = random.between(-1, 3);
    if (this.#isHost && (!round?.isOpen || random.is(0.3))) return { type: "next", index, ...me };
    if (lobby.settings.mode === "coop")
      return this.#isHost && random.is(0.3)
        ? { type: "lock", index, ...me }
        : { type: "pick", selectedIndex, index, ...me };
    return { type: "answer", selectedIndex, index, claimedMs: random.between(0, 1_500), ...me };
  }
}
