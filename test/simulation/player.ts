import type { LobbyReply } from "../../actors/contract.ts";
import type { Lobby, LobbyCommand } from "../../actors/lobby/types.ts";
import { by, createCommand, newSeat, type Opening } from "./openings.ts";
import { maxPlayers } from "./ledger.ts";
import type { World, Worker } from "./world.ts";

interface Call {
  command: LobbyCommand;
  id: string;
  tries: number;
  isOver: boolean;
  /** Body of the first good answer. */
  body: string | null | undefined;
}

/** What was known when an attempt set out. */
interface Attempt {
  wasApplied: boolean;
  /** Newest seq anybody had been told. */
  toldSeq: number;
  isSettled: boolean;
}

/** Attempts of one command; a player then goes on without an answer. */
const maxTries = 12;
const lobbySeq = /"seq":(\d+),"hub"/;
/** Commands whose good answer means that a commit of theirs is stored. */
const alwaysStored: ReadonlySet<LobbyCommand["type"]> = new Set([
  "create",
  "join",
  "settings",
  "prepare",
  "start",
  "pick",
  "answer",
  "kick",
] as const);

/** A client with one command under way at a time, repeated under its id until it is answered. */
export class Player {
  readonly seatId: number;
  readonly isHost: boolean;
  isDone = false;
  readonly #world: World;
  readonly #code: string;
  readonly #opening: Opening;
  #left: number;
  #count = 0;
  #hasJoined: boolean;
  #plan: { revision: number; count: number } | null = null;

  constructor(
    world: World,
    given: {
      code: string;
      opening: Opening;
      seatId: number;
      isHost: boolean;
      isSeated: boolean;
      commands: number;
    },
  ) {
    this.#world = world;
    this.#code = given.code;
    this.#opening = given.opening;
    this.seatId = given.seatId;
    this.isHost = given.isHost;
    this.#left = given.commands;
    this.#hasJoined = given.isSeated;
  }

  think(): void {
    const { chance } = this.#world;
    if (this.#left === 0) {
      this.isDone = true;
      return;
    }
    this.#left -= 1;
    this.#world.after(chance.between(1, chance.is(0.2) ? 600 : 60), () => {
      const command = this.#choose(this.#world.ledger(this.#code).state);
      const id = `${this.seatId}-${++this.#count}`;
      this.#try({ command, id, tries: 0, isOver: false, body: undefined });
    });
  }

  #try(call: Call): void {
    const world = this.#world;
    if (call.isOver) return;
    if (call.tries++ >= maxTries) {
      call.isOver = true;
      return this.think();
    }
    const workers = world.ready();
    if (workers.length === 0) {
      world.after(30, () => this.#try(call));
      return;
    }
    this.#send(call, world.chance.pick(workers));
  }

  #send(call: Call, worker: Worker): void {
    const world = this.#world;
    const { chance, timeline } = world;
    if (world.sabotage.freshIds && call.tries > 1) call.id += "+";
    const { id, command } = call;
    const ledger = world.ledger(this.#code);
    const key = `c.${command.type}.${id}`;
    const attempt: Attempt = {
      wasApplied: ledger.applied.has(key),
      toldSeq: world.told.get(this.#code) ?? 0,
      isSettled: false,
    };
    const breakOff = () => this.#failed(call, attempt, "was cut off");
    worker.open.add(breakOff);
    world.note?.(
      `seat ${this.seatId}  asks ${worker.name} ${id} ${JSON.stringify(command).slice(0, 120)}`,
    );
    timeline.add(timeline.now + chance.between(5, 50) / 100, worker, () => {
      const asked = worker.lobbies?.ask(this.#code, command, id);
      void asked?.then((reply) =>
        world.after(chance.between(5, 50) / 100, () => {
          worker.open.delete(breakOff);
          this.#receive(call, attempt, reply);
        }),
      );
    });
    world.after(chance.between(400, 3_000), () => this.#failed(call, attempt, "waited too long"));
  }

  #failed(call: Call, attempt: Attempt, how: string): void {
    if (attempt.isSettled || call.isOver) return;
    attempt.isSettled = true;
    this.#world.note?.(`seat ${this.seatId}  ${how} with ${call.id}`);
    this.#world.after(this.#world.chance.between(1, 40), () => this.#try(call));
  }

  #receive(call: Call, attempt: Attempt, reply: LobbyReply): void {
    const world = this.#world;
    world.note?.(`seat ${this.seatId}  gets ${call.id} ${JSON.stringify(reply).slice(0, 100)}`);
    const isFirst = !attempt.isSettled;
    if (reply.ok) this.#checkGood(call, attempt, reply.body);
    else if (reply.code === "server:unavailable" && reply.params?.["collision"] !== true) {
      if (isFirst) this.#failed(call, attempt, "was put off");
      return;
    } else this.#checkRefusal(call, attempt, reply.code);
    attempt.isSettled = true;
    if (call.isOver) return;
    call.isOver = true;
    if (reply.ok && call.command.type === "prepare" && reply.body !== null)
      this.#plan = JSON.parse(reply.body) as { revision: number; count: number };
    this.think();
  }

  #checkRefusal(call: Call, attempt: Attempt, code: string): void {
    const isLost = this.#world.hasLost;
    this.#world.ensure(
      !attempt.wasApplied || isLost,
      "the same id has the same answer",
      () => `${this.#code} ${call.id} ${call.command.type} was stored and then refused as ${code}`,
    );
  }

  #checkGood(call: Call, attempt: Attempt, body: string | null): void {
    const world = this.#world;
    const ledger = world.ledger(this.#code);
    const { command } = call;
    const key = `c.${command.type}.${call.id}`;
    const applied = ledger.applied.get(key);
    if (alwaysStored.has(command.type))
      world.ensure(
        applied !== undefined || ledger.lost.has(key),
        "nothing acknowledged lost",
        () => `${this.#code} ${call.id} ${command.type} was acknowledged but is not stored`,
      );
    if (body !== null) world.guard(() => ledger.checkSecrets(body, this.seatId));
    if (world.hasLost) return;
    world.ensure(
      this.#isTrue(command, ledger.state),
      "nothing acknowledged lost",
      () => `${this.#code} ${call.id} ${JSON.stringify(command)} was acknowledged without effect`,
    );
    if (applied) {
      world.ensure(
        call.body === undefined || call.body === body,
        "the same id has the same answer",
        () => `${this.#code} ${call.id}: ${call.body} and ${body}`,
      );
      call.body = body;
    }
    this.#checkSeq(command, attempt, body);
    world.told.set(this.#code, Math.max(world.told.get(this.#code) ?? 0, applied?.seq ?? 0));
  }

  #checkSeq(command: LobbyCommand, attempt: Attempt, body: string | null): void {
    const world = this.#world;
    const match = body === null ? null : lobbySeq.exec(body);
    if (!match) return;
    const seq = Number(match[1]);
    const stored = world.ledger(this.#code).seq;
    world.ensure(
      seq <= stored,
      "nothing shown before it is stored",
      () => `${this.#code} showed seq ${seq}, stored is ${stored}`,
    );
    world.told.set(this.#code, Math.max(world.told.get(this.#code) ?? 0, seq));
    if (command.type !== "read" || world.isLivenessBlind()) return;
    world.ensure(
      seq >= attempt.toldSeq,
      "no read older than what was told",
      () => `${this.#code} showed seq ${seq}, somebody knew ${attempt.toldSeq} before it was asked`,
    );
  }

  /** What a good answer of these says about the lobby from then on. */
  #isTrue(command: LobbyCommand, lobby: Lobby | null): boolean {
    if (!lobby || lobby.status === "finished") return lobby !== null;
    const { round } = lobby;
    switch (command.type) {
      case "next":
        return command.index === null || (round !== null && round.index > command.index);
      case "lock":
        return (
          command.index === null ||
          (round !== null && (round.index > command.index || !round.isOpen))
        );
      case "leave":
        return !lobby.seats.some((seat) => seat.id === this.seatId);
      case "end":
        return false;
      default:
        return true;
    }
  }

  #choose(lobby: Lobby | null): LobbyCommand {
    const { chance, sabotage } = this.#world;
    const me = by(this.seatId);
    if (!lobby)
      return this.isHost
        ? createCommand(this.#code, this.#opening, sabotage.seatBound ?? maxPlayers)
        : { type: "read", ...me };
    if (chance.is(0.2)) return this.#chooseAny(lobby);
    const isSeated = lobby.seats.some((seat) => seat.id === this.seatId);
    if (!isSeated) return this.#joinOnce();
    if (lobby.status === "waiting")
      return this.isHost ? this.#chooseStart() : { type: "read", ...me };
    return this.#chooseMove(lobby);
  }

  /** A seat's number is never given twice, so who left or was refused only looks on. */
  #joinOnce(): LobbyCommand {
    const me = by(this.seatId);
    if (this.#hasJoined) return { type: "read", ...me };
    this.#hasJoined = true;
    return { type: "join", seat: newSeat(this.seatId), ...me };
  }

  #chooseStart(): LobbyCommand {
    const { chance } = this.#world;
    const me = by(this.seatId);
    if (chance.is(0.3)) return { type: "settings", changes: { prompt: `${this.#count}` }, ...me };
    const plan = this.#plan;
    this.#plan = null;
    if (!plan) return { type: "prepare", ...me };
    const questions = Array.from({ length: plan.count }, () => this.#world.newQuestion());
    return { type: "start", revision: plan.revision, questions, ...me };
  }

  #chooseMove(lobby: Lobby): LobbyCommand {
    const { chance } = this.#world;
    const me = by(this.seatId);
    const { round } = lobby;
    const index = chance.is(0.8) ? (round?.index ?? null) : null;
    const selectedIndex = chance.between(-1, 3);
    if (this.isHost && (!round?.isOpen || chance.is(0.3))) return { type: "next", index, ...me };
    if (lobby.settings.mode === "coop")
      return this.isHost && chance.is(0.3)
        ? { type: "lock", index, ...me }
        : { type: "pick", selectedIndex, index, ...me };
    return { type: "answer", selectedIndex, index, claimedMs: chance.between(0, 1_500), ...me };
  }

  #chooseAny(lobby: Lobby): LobbyCommand {
    const { chance } = this.#world;
    const me = by(this.seatId);
    const commands: LobbyCommand[] = [
      { type: "read", ...me },
      { type: "read", ...me },
      { type: "read", ...me },
      { type: "heartbeat", ...me },
      { type: "reveal", ...me },
      { type: "leave", ...me },
      { type: "lock", index: null, ...me },
    ];
    const target = chance.pick(lobby.seats).id;
    if (this.isHost) commands.push({ type: "kick", seatId: target, ban: chance.is(0.5), ...me });
    if (this.isHost && chance.is(0.3)) commands.push({ type: "end", ...me });
    const command = chance.pick(commands);
    return command.type === "leave" && this.isHost && chance.is(0.7)
      ? { type: "read", ...me }
      : command;
  }
}
