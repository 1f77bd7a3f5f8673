import type { Reply } from "../../actors/contract.ts";
import type { LobbyCommand } from "../../actors/lobby/types.ts";
import { Chooser } from "./chooser.ts";
import { isAlwaysStored, isTrueAfter } from "./commands.ts";
import type { Opening } from "./openings.ts";
import type { World, Worker } from "./world.ts";

interface Call {
  command: LobbyCommand;
  id: string;
  tries: number;
  isOver: boolean;
  /** Body of the first successful response. */
  body: string | null | undefined;
}

/** Known state when an attempt was sent. */
interface Attempt {
  wasApplied: boolean;
  wasRefused: boolean;
  /** Newest seq that any client had received. */
  acknowledgedSeq: number;
  isSettled: boolean;
  giveUp: () => void;
}

/** Attempts per command; after that a player continues without a response. */
const maxTries = 12;
const lobbySeq = /"seq":(\d+),"hub"/;
/** A client with one pending command at a time, repeated with its id until it is answered. */
export class Player {
  readonly seatId: number;
  isDone = false;
  readonly #world: World;
  readonly #code: string;
  readonly #chooser: Chooser;
  #left: number;
  #count = 0;

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
    this.#chooser = new Chooser(world, given);
    this.seatId = given.seatId;
    this.#left = given.commands;
  }

  think(): void {
    const { random } = this.#world;
    if (this.#left === 0) {
      this.isDone = true;
      return;
    }
    this.#left -= 1;
    const { thinkMs, longThinkMs } = this.#world.kind;
    this.#world.after(random.within(random.is(0.2) ? longThinkMs : thinkMs), () => {
      const command = this.#chooser.choose(this.#world.ledger(this.#code).state, this.#count + 1);
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
    const owner = world.random.is(world.kind.asksOwner) ? world.ownerOf(this.#code) : null;
    const direct = workers.find(({ name }) => name === owner);
    this.#send(call, direct ?? world.random.pick(workers));
  }

  #send(call: Call, worker: Worker): void {
    const world = this.#world;
    const { random, timeline } = world;
    if (world.sabotage.freshIds && call.tries > 1) call.id += "+";
    const { id, command } = call;
    const ledger = world.ledger(this.#code);
    const key = `c.${command.type}.${id}`;
    const attempt: Attempt = {
      wasApplied: ledger.applied.has(key),
      wasRefused: ledger.refused.has(key),
      acknowledgedSeq: world.acknowledged.get(this.#code) ?? 0,
      isSettled: false,
      giveUp: () => {},
    };
    const disconnect = () => this.#failed(call, attempt, "was cut off");
    worker.open.add(disconnect);
    world.note?.(
      `seat ${this.seatId}  asks ${worker.name} ${id} ${JSON.stringify(command).slice(0, 120)}`,
    );
    timeline.add(timeline.now + random.between(5, 50) / 100, worker, () => {
      const asked = worker.lobbies?.ask(this.#code, command, id);
      if (!asked) return;
      void Promise.resolve(asked).then((reply) =>
        world.after(random.between(5, 50) / 100, () => {
          worker.open.delete(disconnect);
          this.#receive(call, attempt, reply);
        }),
      );
    });
    attempt.giveUp = world.after(random.within(world.kind.waitMs), () =>
      this.#failed(call, attempt, "waited too long"),
    );
  }

  #failed(call: Call, attempt: Attempt, how: string): void {
    if (attempt.isSettled || call.isOver) return;
    attempt.isSettled = true;
    this.#world.note?.(`seat ${this.seatId}  ${how} with ${call.id}`);
    this.#world.after(this.#world.random.within(this.#world.kind.againMs), () => this.#try(call));
  }

  #receive(call: Call, attempt: Attempt, reply: Reply): void {
    const world = this.#world;
    world.note?.(`seat ${this.seatId}  gets ${call.id} ${JSON.stringify(reply).slice(0, 100)}`);
    const isFirst = !attempt.isSettled;
    attempt.giveUp();
    if (reply.ok) this.#checkGood(call, attempt, reply.body);
    else if (reply.code === "server:unavailable" && reply.params?.["collision"] !== true) {
      if (isFirst) this.#failed(call, attempt, "was put off");
      return;
    } else this.#checkRefusal(call, attempt, reply.code);
    attempt.isSettled = true;
    if (call.isOver) return;
    call.isOver = true;
    if (reply.ok && call.command.type === "prepare" && reply.body !== null)
      this.#chooser.plan = JSON.parse(reply.body) as { revision: number; count: number };
    this.think();
  }

  #checkRefusal(call: Call, attempt: Attempt, code: string): void {
    const isLost = this.#world.hasLost;
    const { undone } = this.#world.ledger(this.#code);
    this.#world.ensure(
      !attempt.wasApplied || isLost || undone.has(`c.${call.command.type}.${call.id}`),
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
    // A start whose settings have changed in between is answered with a plan, and repeated with its key.
    const isDone = !body?.startsWith('{"is_stale"');
    if (isDone && isAlwaysStored(command))
      world.ensure(
        applied !== undefined || ledger.lost.has(key) || ledger.undone.has(key),
        "nothing acknowledged lost",
        () => `${this.#code} ${call.id} ${command.type} was acknowledged but is not stored`,
      );
    const reader = "by" in command ? this.seatId : null;
    if (body !== null) world.guard(() => ledger.checkSecrets(body, reader));
    if (world.hasLost) return;
    world.ensure(
      !attempt.wasRefused,
      "the same id has the same answer",
      () => `${this.#code} ${call.id} ${command.type} was refused for good and then carried out`,
    );
    world.ensure(
      isTrueAfter(command.type, command, { lobby: ledger.state, seatId: this.seatId }),
      "nothing acknowledged lost",
      () => `${this.#code} ${call.id} ${JSON.stringify(command)} was acknowledged without effect`,
    );
    if (applied && !ledger.undone.has(key)) {
      world.ensure(
        call.body === undefined || call.body === body,
        "the same id has the same answer",
        () => `${this.#code} ${call.id}: ${call.body} and ${body}`,
      );
      call.body = body;
    }
    this.#checkSeq(command, attempt, body);
    world.acknowledged.set(
      this.#code,
      Math.max(world.acknowledged.get(this.#code) ?? 0, applied?.seq ?? 0),
    );
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
    world.acknowledged.set(this.#code, Math.max(world.acknowledged.get(this.#code) ?? 0, seq));
    if (command.type !== "read" || world.isLivenessUnknown()) return;
    world.ensure(
      seq >= attempt.acknowledgedSeq,
      "no read older than an acknowledged one",
      () =>
        `${this.#code} showed seq ${seq} after an earlier answer had ${attempt.acknowledgedSeq}`,
    );
  }
}
