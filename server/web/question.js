import { el, isolated, make, playerRow, readable, setText } from "./dom.js";
import { renderProof } from "./fair-play.js";
import { canChoose, isHost, isWatching, me, myChoice, ranking, serverNow } from "./game.js";

/** @typedef {import("./game.js").Game} Game @typedef {import("./client/emberline.ts").Lobby} Lobby */

/** Four buttons that stay, so that the keyboard focus survives every change. @param {(choice: number) => void} choose */
export function makeChoices(choose) {
  for (let choice = 0; choice < 4; choice++) {
    const button = document.createElement("button");
    button.type = "button";
    const mark = make("span", "", "mark");
    button.append(make("kbd", String(choice + 1)), make("span", "", "choice-text"), mark);
    button.addEventListener("click", () => choose(choice));
    const item = document.createElement("li");
    item.append(button);
    el("choices").append(item);
  }
}

/** @param {Game} game @param {Lobby} lobby */
function renderChoices(game, lobby) {
  const question = lobby.current_question;
  const mine = myChoice(game);
  const early = game.early;
  const correct = lobby.reveal?.correct_index ?? early?.answer ?? null;
  el("choices")
    .querySelectorAll("button")
    .forEach((button, choice) => {
      const [, text, mark] = button.children;
      const isMine = mine === choice;
      const names = othersAt(game, lobby, choice);
      text.textContent = question?.payload.choices[choice] ?? "";
      mark.textContent = [verdictOf(choice, correct, isMine), ...names].filter(Boolean).join(" · ");
      button.setAttribute("aria-pressed", String(isMine));
      button.classList.toggle("mine", isMine);
      button.classList.toggle("right", correct === choice);
      button.classList.toggle("wrong", correct !== null && isMine && correct !== choice);
      button.setAttribute("aria-disabled", String(!canChoose(game)));
    });
}

/** Who else stands at a choice: picks move until they count, after that the results say it. @param {Game} game @param {Lobby} lobby @param {number} choice */
function othersAt(game, lobby, choice) {
  const chosen = lobby.reveal
    ? lobby.reveal.results.map((result) => [result.player_id, result.selected_index])
    : [...game.picks];
  const ids = chosen.flatMap(([id, at]) => (at === choice && id !== game.playerId ? [id] : []));
  return lobby.players.filter(({ id }) => ids.includes(id)).map(({ name }) => isolated(name));
}

/** In words, since colour alone tells not everybody. @param {number} choice @param {number | null} correct @param {boolean} isMine */
function verdictOf(choice, correct, isMine) {
  if (correct === choice) return isMine ? "✓ your answer" : "✓ right answer";
  if (isMine) return correct === null ? "your answer" : "✗ your answer";
  return "";
}

/** @param {Game} game @param {Lobby} lobby */
export function renderQuestion(game, lobby) {
  const question = lobby.current_question;
  if (!question) return;
  const total = lobby.num_questions === null ? "" : ` of ${lobby.num_questions}`;
  setText("progress", `Question ${question.index + 1}${total}`);
  setText("topic", `${readable(question.category)} · ${readable(question.difficulty)}`);
  setText("question", question.question);
  el("own-score").hidden = isWatching(game);
  setText("my-score", String(myScore(game)));
  setText("hint", hintOf(game, lobby));
  renderChoices(game, lobby);
  renderReveal(game, lobby);
  renderHostControls(game, lobby);
  renderStandings(game, lobby);
}

/** @param {Game} game @param {Lobby} lobby */
function hintOf(game, lobby) {
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

/** @param {Game} game @param {Lobby} lobby */
function renderReveal(game, lobby) {
  const { reveal } = lobby;
  el("reveal").hidden = !reveal;
  renderProof(game);
  if (!reveal) return;
  const own = reveal.results.find((result) => result.player_id === game.playerId);
  const isMissing = !own || own.selected_index < 0;
  const wrong = isMissing ? "Time is up" : "Not this time";
  const verdict = own?.is_correct ? `Right! +${own.points_earned} points` : wrong;
  const numRight = reveal.results.filter((result) => result.is_correct).length;
  const tally = `${numRight} of ${reveal.results.length} knew it`;
  setText("verdict", isWatching(game) ? tally : verdict);
  el("reveal").classList.toggle("right", own?.is_correct === true);
  el("reveal").classList.toggle("wrong", !isWatching(game) && own?.is_correct !== true);
  setText("explanation", reveal.explanation);
  setText("rate", `${reveal.correct_rate} % of all answers to this question were right.`);
}

/** @param {Game} game @param {Lobby} lobby */
function renderHostControls(game, lobby) {
  const isOpen = lobby.reveal === null;
  const isLast = lobby.num_questions !== null && lobby.current_index + 1 >= lobby.num_questions;
  el("host-controls").hidden = !isHost(game);
  el("lock").hidden = !isOpen || lobby.mode !== "coop";
  el("next").classList.toggle("primary", !isOpen);
  const skip = isLast ? "Finish without waiting" : "Skip this question";
  setText("next", isOpen ? skip : isLast ? "Show the result" : "Next question");
}

/** The own score is known at once; that of the others moves at the reveal. @param {Game} game */
function myScore(game) {
  return game.early?.score ?? me(game)?.score ?? 0;
}

/** @param {Game} game @param {Lobby} lobby */
function renderStandings(game, lobby) {
  const rows = ranking(lobby).map(({ player }) => {
    const result = lobby.reveal?.results.find(({ player_id }) => player_id === player.id);
    const isIn = lobby.answered_player_ids.includes(player.id);
    const gained = result ? `+${result.points_earned}` : isIn ? "answered" : "thinking…";
    const row = playerRow(game, player, gained);
    const score = player.id === me(game)?.id ? myScore(game) : player.score;
    row.append(make("strong", String(score), "score"));
    return row;
  });
  el("playing-players").replaceChildren(...rows);
}

/** The parts that move with time alone. @param {Game} game */
export function renderClock(game) {
  const question = game.lobby?.current_question;
  if (!question) return;
  const totalMs = question.ends_at_ms - question.started_at_ms;
  const leftMs = Math.max(0, question.ends_at_ms - serverNow(game));
  const isRevealed = game.lobby?.reveal !== null;
  el("time-left").value = isRevealed ? 0 : leftMs / totalMs;
  setText("clock", isRevealed ? "" : leftMs > 0 ? `${Math.ceil(leftMs / 1000)} s` : "Time is up");
  el("clock").classList.toggle("hurry", !isRevealed && leftMs < 5000);
}
