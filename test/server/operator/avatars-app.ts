import { after, before } from "node:test";
import type { App } from "../../support/app.ts";
import { member as newMember, startReview, type Review } from "../../support/review.ts";

export let review: Review;
export let app: App;
export const ask: Review["ask"] = (...input) => review.ask(...input);
export const decide: Review["decide"] = (...input) => review.decide(...input);
export const list: Review["list"] = (...input) => review.list(...input);
export const member = () => newMember(app);

/** The service with uploads that wait for a review. */
export function startsReviewApp(): void {
  before(async () => {
    review = await startReview();
    app = review.app;
  });
  after(() => review.stop());
}
