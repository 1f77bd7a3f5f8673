import { verifyReveal } from "../client/emberline.ts";
import { byId } from "../dom.ts";
import type { Game } from "./game.ts";

/** Checks a reveal against the hash this tab saw while the question was open, once for each question. */
export async function proveReveal(game: Game, onKnown: () => void): Promise<void> {
  const { current_question: question, reveal } = game.lobby ?? {};
  const { hash } = game;
  if (!question || !reveal || hash?.index !== reveal.index) return;
  if (game.proof?.index === reveal.index) return;
  const isGood = await verifyReveal(hash.text, question, reveal);
  if (isGood === null) return;
  game.proof = { index: reveal.index, isGood };
  onKnown();
}

export function renderProof(game: Game): void {
  const index = game.lobby?.reveal?.index;
  const proof = game.proof?.index === index ? game.proof : null;
  byId("proof").hidden = !proof?.isGood;
  // A service that changed its answer is nothing to whisper about.
  byId("cheated").hidden = !proof || proof.isGood;
}
