import { verifyReveal } from "../client/emberline.ts";
import { byId } from "../dom.ts";
import type { Game } from "./game.ts";

/** Verifies a reveal, once per question, against the hash this tab received while the question was open. */
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
  // A changed answer is shown prominently.
  byId("cheated").hidden = !proof || proof.isGood;
}
