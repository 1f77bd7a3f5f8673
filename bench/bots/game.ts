import {
  silenceMs,
  verifyReveal,
  type LobbyEvent,
  type Player,
  type Question,
  type Reveal,
  type Seat,
  type Spectator,
} from "../../server/web/client/emberline.ts";
import { within } from "../load/deadline.ts";
import type { Choice } from "../load/record.ts";
import type { Arrival } from "../scenario.ts";
import { isCounted, type Bot } from "./bot.ts";
import { Deliveries } from "./deliveries.ts";
import { Follower } from "./follower.ts";
import type { Seated } from "./tables.ts";

export interface GameOptions {
  seats: number;
  questions: number;
  /** Seconds to answer. */
  timer: number;
  /** Least and most time until an answer, and between any two steps of a person, in milliseconds. */
  thinkMs: readonly [least: number, most: number];
  /** Default: versus. */
  mode?: "versus" | "coop";
  /** Least and most time after which each player's connection is cut again; absent: it is not. */
  cutMs?: readonly [least: number, most: number];
  /** Of the host, and of every second player: requests go to the worker that owns the lobby, where it says its port. */
  followOwner?: boolean;
  /** Default true: one of the players closes the page and comes back. */
  returns?: boolean;
}

/** A question or its reveal may take this much longer than its timer. */
const graceMs = 30_000;
/** A connection whose other end is gone without a word is replaced after a silence. */
const endMs = silenceMs + 10_000;

/**
 * Plays a whole game as people do: a host creates it, friends join by its code, one of them closes the page and comes
 * back, and a spectator watches. Everything the service acknowledged must be in the events of all of them, once.
 */
export async function playGame(arrival: Arrival, options: GameOptions): Promise<void> {
  const game = new Game(arrival, options);
  try {
    await game.play();
  } finally {
    await game.close();
  }
}

class Game {
  readonly #arrival: Arrival;
  readonly #options: GameOptions;
  readonly #seated: Seated[] = [];
  readonly #followers: Follower[] = [];
  /** Choices that the service acknowledged. */
  readonly #accepted: (Choice & { bot: Bot })[] = [];
  readonly #deliveries = new Deliveries("answer to last subscriber");
  readonly #questions = new Map<number, Question>();
  readonly #reveals = new Map<number, Reveal>();
  /** Question that each subscriber is at. */
  readonly #at = new Map<Follower, number>();
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #startDueAt = 0;
  #final: readonly Player[] | null = null;
  #isOver = false;
  /** Choices that were accepted or refused. */
  #numChosen = 0;
  /** Every event that any of them received, by its number. */
  readonly #log = new Map<number, { name: string; text: string }>();

  constructor(arrival: Arrival, options: GameOptions) {
    this.#arrival = arrival;
    this.#options = options;
  }

  async play(): Promise<void> {
    const { seats, questions, returns = true } = this.#options;
    const host = await this.#host();
    const { code } = host.seat;
    const friends = Array.from({ length: seats - 1 }, (_, n) =>
      this.#join(code, `Player ${n + 2}`),
    );
    await Promise.all([...friends, this.#watch(code)]);
    this.#startDueAt = await this.#think(host.bot);
    await host.bot.measure("start", this.#startDueAt, () => host.seat.start());
    const leavesAt = Math.floor(this.#arrival.random() * questions);
    const leaver = returns ? 1 : null;
    await Promise.all(
      this.#seated.map((seated, n) => this.#answerAll(seated, n === leaver ? leavesAt : null)),
    );
    const ended = Promise.all(this.#followers.map((follower) => follower.ended()));
    await within(endMs, `the end of ${code}`, ended);
    this.#verify(code);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#followers.map((follower) => follower.leave()));
  }

  async #host(): Promise<Seated> {
    const bot = this.#newBot();
    const { seats, questions, timer, mode = "versus" } = this.#options;
    await bot.measure("guest", this.#arrival.dueAt, () => bot.client.guest());
    const settings = { mode, visibility: "public", category: "random" } as const;
    const dueAt = await this.#think(bot);
    const seat = await bot.measure("create", dueAt, () =>
      bot.client.create({
        ...settings,
        ...{ hostName: "Player 1", numQuestions: questions, timer, maxPlayers: seats },
      }),
    );
    return this.#sit(bot, seat);
  }

  async #join(code: string, name: string): Promise<void> {
    const bot = this.#newBot();
    await bot.measure("guest", await this.#think(bot), () => bot.client.guest());
    const dueAt = await this.#think(bot);
    await this.#sit(bot, await bot.measure("join", dueAt, () => bot.client.join(code, name)));
  }

  async #sit(bot: Bot, seat: Seat): Promise<Seated> {
    const seated = { bot, seat, follower: this.#follow(bot, seat) };
    this.#seated.push(seated);
    await seated.follower.open();
    void this.#keepCutting(bot).catch(() => undefined);
    return seated;
  }

  #newBot(): Bot {
    return this.#arrival.bot({ followOwner: this.#options.followOwner ?? true });
  }

  async #keepCutting(bot: Bot): Promise<void> {
    const { cutMs } = this.#options;
    while (cutMs && !this.#isOver) {
      await bot.pause(...cutMs);
      if (!this.#isOver) void Promise.allSettled(bot.cutStreams());
    }
  }

  async #watch(code: string): Promise<void> {
    const bot = this.#newBot();
    const dueAt = await this.#think(bot);
    const spectator = await bot.measure("spectate", dueAt, () => bot.client.spectate(code));
    await this.#follow(bot, spectator, this.#options.mode !== "coop").open();
  }

  #follow(bot: Bot, view: Seat | Spectator, seesPicks = true): Follower {
    const follower = new Follower(bot, view, (event, by) => this.#received(event, by), seesPicks);
    this.#followers.push(follower);
    return follower;
  }

  #think(bot: Bot): Promise<number> {
    return bot.pause(...this.#options.thinkMs);
  }

  /** One player's game. `leavesAt`: after this question the player closes the page and comes back. */
  async #answerAll({ bot, seat, follower }: Seated, leavesAt: number | null): Promise<void> {
    const isHost = seat === this.#seated[0]?.seat;
    const isCoop = this.#options.mode === "coop";
    const limitMs = this.#options.timer * 1000 + graceMs;
    const { code } = seat;
    const moment = (name: string) =>
      within(limitMs, `${name} of ${code}`, this.#moments(name).promise);
    for (let index = 0; index < this.#options.questions; index++) {
      await moment(`question ${index}`);
      const dueAt = await this.#think(bot);
      await this.#answer({ bot, seat, follower }, index, dueAt);
      if (index === leavesAt) await this.#leaveAndReturn({ bot, seat, follower });
      if (isHost && isCoop) {
        await moment(`all picks ${index}`);
        await bot.measure("lock", await this.#think(bot), () => seat.lock(index));
      }
      await moment(`reveal ${index}`);
      if (isHost) await bot.measure("next", await this.#think(bot), () => seat.next(index));
    }
  }

  async #answer({ bot, seat }: Seated, index: number, dueAt: number): Promise<void> {
    const selected = Math.floor(bot.random() * 4);
    const { playerId } = seat.key;
    const isCoop = this.#options.mode === "coop";
    const operation = isCoop ? "pick" : "answer";
    const name = `${playerId} ${index}`;
    const present = this.#followers.filter(
      ({ isPresent, seesPicks }) => isPresent && (!isCoop || seesPicks),
    );
    this.#deliveries.expect(name, bot, dueAt, present);
    const choice = { index, selected_index: selected };
    try {
      const points = await bot.measure(operation, dueAt, async () => {
        if (isCoop) return (await seat.pick(choice), null);
        return (await seat.answer({ ...choice, time_taken_ms: 500 })).points_earned;
      });
      const requestId = bot.requestId(`/${operation}`);
      this.#accepted.push({ bot, playerId, index, selected, points, requestId });
    } catch (error) {
      // Refused, perhaps because the time was over: it is counted, and the game goes on.
      this.#deliveries.forget(name);
      if (!isCounted(error)) throw error;
    } finally {
      this.#numChosen += 1;
      if (this.#numChosen % this.#seated.length === 0)
        this.#moments(`all picks ${index}`).resolve();
    }
  }

  async #leaveAndReturn({ bot, seat, follower }: Seated): Promise<void> {
    await follower.leave();
    this.#deliveries.left(follower);
    const dueAt = await this.#think(bot);
    await bot.measure("reconnect", dueAt, () => follower.comeBack(bot.client, seat));
  }

  #received(event: LobbyEvent, follower: Follower): void {
    this.#keep(event, follower);
    if (event.type === "lobby.answer" || event.type === "lobby.pick")
      this.#deliveries.received(`${event.data.player_id} ${this.#at.get(follower)}`, follower);
    if (event.type === "lobby.started" && this.#seated.some((one) => one.follower === follower))
      follower.bot.figure("first question", performance.now() - this.#startDueAt);
    if (event.type === "lobby.reveal") void this.#reveal(event.data.reveal, follower);
    if (!("lobby" in event.data)) return;
    const { current_question: question, reveal, players, status } = event.data.lobby;
    if (status === "finished") this.#final = players;
    if (!question || reveal) return;
    this.#at.set(follower, question.index);
    if (!this.#questions.has(question.index)) this.#questions.set(question.index, question);
    this.#moments(`question ${question.index}`).resolve();
  }

  async #reveal(reveal: Reveal | null, follower: Follower): Promise<void> {
    if (!reveal) return;
    const { bot } = follower;
    this.#reveals.set(reveal.index, reveal);
    this.#moments(`reveal ${reveal.index}`).resolve();
    const question = this.#questions.get(reveal.index);
    if (!question) return;
    if ((await verifyReveal(question.answer_hash, question, reveal)) === false)
      bot.violation(
        "wrong proof",
        `the answer of question ${reveal.index} does not match its hash`,
        bot.requestId("/v1/hub"),
      );
  }

  /** The same number means the same event to everybody. */
  #keep(event: LobbyEvent, { bot }: Follower): void {
    const { type, seq, data } = event;
    if (type === "lobby.snapshot" || type === "lobby.gap") return;
    const isChoice = type === "lobby.answer" || type === "lobby.pick";
    const name = isChoice ? `${type} of player ${data.player_id}` : type;
    const text = this.#options.cutMs ? JSON.stringify(data) : "";
    const known = this.#log.get(seq);
    if (known && (known.name !== name || known.text !== text))
      bot.violation("differing", `event ${seq} came as ${known.name} and ${name}`, null);
    else this.#log.set(seq, { name, text });
  }

  /** Each acknowledged command has exactly one event; one without a response may have one. */
  #verifyLog(code: string): void {
    for (const { bot, hidden } of this.#followers)
      for (const seq of hidden)
        if (!this.#log.get(seq)?.name.startsWith("lobby.pick"))
          bot.violation("gap", `event ${seq} of ${code} did not come`, bot.requestId("/v1/hub"));
    const { questions, mode } = this.#options;
    const choice = mode === "coop" ? "lobby.pick" : "lobby.answer";
    const expected: [name: string, least: number, most: number][] = [
      ["lobby.started", 1, 1],
      ["lobby.reveal", questions, questions],
      ["lobby.question", questions - 1, questions - 1],
      ["lobby.ended", 1, 1],
      ...this.#seated.map(({ seat }): [string, number, number] => {
        const { playerId } = seat.key;
        const own = this.#accepted.filter((one) => one.playerId === playerId);
        return [`${choice} of player ${playerId}`, own.length, questions];
      }),
    ];
    const names = [...this.#log.values()].map(({ name }) => name);
    for (const [name, least, most] of expected) {
      const count = names.filter((one) => one === name).length;
      if (count >= least && count <= most) continue;
      const kind = count < least ? "lost event" : "doubled event";
      const { bot } = this.#seated[0] ?? {};
      bot?.violation(kind, `${count} x ${name} in ${code}, of ${least}`, bot.requestId("/v1/hub"));
    }
  }

  /** Every accepted answer stands in the events and the reveal, and the scores are the sum of the points. */
  #verify(code: string): void {
    for (const { bot, playerId, index, selected, requestId } of this.#accepted) {
      const result = this.#reveals.get(index)?.results.find((one) => one.player_id === playerId);
      if (result?.selected_index !== selected)
        bot.violation(
          "lost answer",
          `answer ${selected} of player ${playerId} to question ${index} of lobby ${code} is missing in the reveal`,
          requestId,
        );
    }
    for (const { id, score } of this.#final ?? []) {
      const own = this.#accepted.filter(({ playerId }) => playerId === id);
      const sum = own.reduce((total, { points }) => total + (points ?? 0), 0);
      const last = own.at(-1);
      if (this.#options.mode === "coop") continue;
      // An answer that got no response may count all the same.
      const isWrong = own.length === this.#options.questions ? score !== sum : score < sum;
      if (last && isWrong)
        last.bot.violation(
          "wrong score",
          `player ${id} of lobby ${code} has ${score} points of ${sum}`,
          last.requestId,
        );
    }
    this.#verifyLog(code);
    const choices = this.#accepted.map(({ bot: _, ...choice }) => choice);
    this.#seated[0]?.bot.played({ code, choices });
  }

  /** Of a question or reveal that any of the players has received. */
  #moments(name: string): PromiseWithResolvers<void> {
    const known = this.#waiting.get(name) ?? Promise.withResolvers<void>();
    this.#waiting.set(name, known);
    return known;
  }
}
