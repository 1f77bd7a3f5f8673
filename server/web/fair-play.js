import { verifyReveal } from "/client/emberline.js";
import { el } from "./dom.js";

/** @typedef {import("./game.js").Game} Game */

/**
 * Checks a reveal against the hash this tab saw while the question was open, once for each question.
 * @param {Game} game @param {() => void} onKnown
 */
export async function proveReveal(game, onKnown) {
  const { current_question: question, reveal } = game.lobby ?? {};
  const { hash } = game;
  if (!question || !reveal || hash?.index !== reveal.index) return;
  if (game.proof?.index === reveal.index) return;
  const isGood = await verifyReveal(hash.text, question, reveal);
  if (isGood === null) return;
  game.proof = { index: reveal.index, isGood };
  onKnown();
}

/** @param {Game} game */
export function renderProof(game) {
  const index = game.lobby?.reveal?.index;
  const proof = game.proof?.index === index ? game.proof : null;
  el("proof").hidden = !proof?.isGood;
  // A service that changed its answer is nothing to whisper about.
  el("cheated").hidden = !proof || proof.isGood;
}
