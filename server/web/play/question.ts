import type { Lobby } from "../client/emberline.ts";
import { byId, el, setText } from "../dom.ts";
import { renderProof } from "./fair-play.ts";
import {
  canChoose,
  isHost,
  isWatching,
  me,
  myChoice,
  ranking,
  serverNow,
  type Game,
} from "./game.ts";
import { isolated, playerRow, readable } from "./parts.ts";

/** The variable parts of a button. */
interface Choice {
  button: HTMLButtonElement;
  text: HTMLElement;
  mark: HTMLElement;
}

let choices: Choice[] = [];
/** Creates four permanent buttons, so that keyboard focus survives every change. */
export function makeChoices(choose: (choice: number) => void): void {
  choices = [0, 1, 2, 3].map((choice) => {
    const text = el("span", { class: "choice-text" });
    const mark = el("span", { class: "mark" });
    const attributes = { type: "button", onclick: () => choose(choice) };
    const button = el("button", attributes, el("kbd", {}, String(choice + 1)), text, mark);
    return { button, text, mark };
  });
  byId("choices").append(...choices.map(({ button }) => el("li", {}, button)));
}

function renderChoices(game: Game, lobby: Lobby): void {
  const question = lobby.current_question;
  const mine = myChoice(game);
  const correct = lobby.reveal?.correct_index ?? game.early?.answer ?? null;
  for (const [choice, { button, text, mark }] of choices.entries()) {
    const isMine = mine === choice;
    const names = othersAt(game, lobby, choice);
    text.textContent = question?.payload.choices[choice] ?? "";
    mark.textContent = [verdictOf(choice, correct, isMine), ...names].filter(Boolean).join(" · ");
    button.setAttribute("aria-pressed", String(isMine));
    button.classList.toggle("mine", isMine);
    button.classList.toggle("right", correct === choice);
    button.classList.toggle("wrong", correct !== null && isMine && correct !== choice);
    button.setAttribute("aria-disabled", String(!canChoose(game)));
  }
}

/** Other players at a choice: their picks while the question is open, then their results. */
function othersAt(game: Game, lobby: Lobby, choice: number) {
  const chosen = lobby.reveal
    ? lobby.reveal.results.map((result) => [result.player_id, result.selected_index] as const)
    : [...game.picks];
  const ids = chosen.flatMap(([id, at]) => (at === choice && id !== game.playerId ? [id] : []));
  return lobby.players.filter(({ id }) => ids.includes(id)).map(({ name }) => isolated(name));
}

/** In words, since colour alone is not accessible. */
function verdictOf(choice: number, correct: number | null, isMine: boolean) {
  if (correct === choice) return isMine ? "✓ your answer" : "✓ right answer";
  if (isMine) return correct === null ? "your answer" : "✗ your answer";
  return "";
}

export function renderQuestion(game: Game, lobby: Lobby): void {
  const question = lobby.current_question;
  if (!question) return;
  const total = lobby.num_questions === null ? "" : ` of ${lobby.num_questions}`;
  setText("progress", `Question ${question.index + 1}${total}`);
  setText("topic", `${readable(question.category)} · ${readable(question.difficulty)}`);
  setText("question", question.question);
  byId("own-score").hidden = isWatching(game);
  setText("my-score", String(myScore(game)));
  setText("hint", hintOf(game, lobby));
  renderChoices(game, lobby);
  renderReveal(game, lobby);
  renderHostControls(game, lobby);
  renderStandings(game, lobby);
}

function hintOf(game: Game, lobby: Lobby): string {
  if (isWatching(game)) return lobby.reveal ? "" : "You are watching. The players are thinking.";
  if (lobby.reveal) return isHost(game) ? "" : "The host moves on to the next question.";
  if (game.early) {
    const { is_correct, points_earned } = game.early;
    return is_correct
      ? `Right! ${points_earned} points. Waiting for the others.`
      : "Not this time. Waiting for the others.";
  }
  if (lobby.mode === "coop")
    return isHost(game)
      ? "Agree on an answer, then lock it in."
      : "Pick an answer; you may change it until the host locks it in.";
  if (game.mine && !me(game)?.has_answered) return "Sending your answer…";
  return canChoose(game)
    ? "Press 1 to 4 or choose an answer. The first choice counts."
    : "Answered. Waiting for the others.";
}

function renderReveal(game: Game, lobby: Lobby): void {
  const { reveal } = lobby;
  byId("reveal").hidden = !reveal;
  renderProof(game);
  if (!reveal) return;
  const own = reveal.results.find((result) => result.player_id === game.playerId);
  const isMissing = !own || own.selected_index < 0;
  const wrong = isMissing ? "Time is up" : "Not this time";
  const verdict = own?.is_correct ? `Right! +${own.points_earned} points` : wrong;
  const numRight = reveal.results.filter((result) => result.is_correct).length;
  const tally = `${numRight} of ${reveal.results.length} knew it`;
  setText("verdict", isWatching(game) ? tally : verdict);
  byId("reveal").classList.toggle("right", own?.is_correct === true);
  byId("reveal").classList.toggle("wrong", !isWatching(game) && own?.is_correct !== true);
  setText("explanation", reveal.explanation);
  setText("rate", `${reveal.correct_rate} % of all answers to this question were right.`);
}

function renderHostControls(game: Game, lobby: Lobby): void {
  const isOpen = lobby.reveal === null;
  const isLast = lobby.num_questions !== null && lobby.current_index + 1 >= lobby.num_questions;
  byId("host-controls").hidden = !isHost(game);
  byId("lock").hidden = !isOpen || lobby.mode !== "coop";
  byId("next").classList.toggle("primary", !isOpen);
  const skip = isLast ? "Finish without waiting" : "Skip this question";
  setText("next", isOpen ? skip : isLast ? "Show the result" : "Next question");
}

/** The own score is known immediately; other scores change at the reveal. */
function myScore(game: Game): number {
  return game.early?.score ?? me(game)?.score ?? 0;
}

function renderStandings(game: Game, lobby: Lobby): void {
  const rows = ranking(lobby).map(({ player }) => {
    const result = lobby.reveal?.results.find(({ player_id }) => player_id === player.id);
    const isIn = lobby.answered_player_ids.includes(player.id);
    const gained = result ? `+${result.points_earned}` : isIn ? "answered" : "thinking…";
    const score = player.id === me(game)?.id ? myScore(game) : player.score;
    return playerRow(game, player, gained, el("strong", { class: "score" }, String(score)));
  });
  byId("playing-players").replaceChildren(...rows);
}

/** Renders the parts that change with time only. */
export function renderClock(game: Game): void {
  const question = game.lobby?.current_question;
  if (!question) return;
  const totalMs = question.ends_at_ms - question.started_at_ms;
  const leftMs = Math.max(0, question.ends_at_ms - serverNow(game));
  const isRevealed = game.lobby?.reveal !== null;
  byId("time-left", HTMLProgressElement).value = isRevealed ? 0 : leftMs / totalMs;
  setText("clock", isRevealed ? "" : leftMs > 0 ? `${Math.ceil(leftMs / 1000)} s` : "Time is up");
  byId("clock").classList.toggle("hurry", !isRevealed && leftMs < 5000);
}
