import type { Config } from "../../../platform/config/config.ts";
import type { WithFaults, WithLog } from "../../../platform/capabilities.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { createClassifier } from "../classifier/classifier.ts";
import { inputSide, type Scores } from "../classifier/contract.ts";
import { readPixels } from "./images.ts";
import { queueForReview, type Moderator, type ModerationDecision } from "./moderation.ts";
import { createWebhookModerator } from "./webhook-moderator.ts";

const sexualContent = "The picture seems to show nudity or sexual content.";

type ModeratorConfig = Pick<
  Config,
  "AVATAR_MODERATION" | "AVATAR_MODERATION_URL" | "AVATAR_REJECT_SCORE" | "AVATAR_REVIEW_SCORE"
>;

/** The configured moderator. */
export function createModerator(
  config: ModeratorConfig,
  deps: WithLog & WithFaults,
  /** Entry of the classifier process; default: the built-in one. */
  entry?: URL,
): Moderator {
  if (config.AVATAR_MODERATION === "manual")
    return {
      moderate: async () => queueForReview("manual"),
      state: () => "manual",
      stop: () => undefined,
    };
  if (config.AVATAR_MODERATION === "webhook") return createWebhookModerator(config, deps);
  const { log } = deps;
  const classifier = createClassifier({ log, ...(entry ? { entry } : {}) });
  return {
    moderate: async ({ id, webp, origin }) => {
      try {
        return decideByScores(await classifier.classify(await readPixels(webp, inputSide)), config);
      } catch (error) {
        log.warn(
          { event: "classification_failed", upload: id, reason: String(error) },
          "picture not classified, sent to manual review",
        );
        recordDegraded(deps, "avatar-moderation", error, origin);
        return queueForReview("unavailable");
      }
    },
    state: () => classifier.state(),
    stop: () => classifier.stop(),
  };
}

/** Explicit pictures are rejected; doubtful and suggestive ones go to manual review. */
export function decideByScores(
  scores: Scores,
  {
    AVATAR_REJECT_SCORE: reject,
    AVATAR_REVIEW_SCORE: review,
  }: Pick<ModeratorConfig, "AVATAR_REJECT_SCORE" | "AVATAR_REVIEW_SCORE">,
): ModerationDecision {
  const explicit = (scores["porn"] ?? 0) + (scores["hentai"] ?? 0);
  const doubtful = explicit + (scores["sexy"] ?? 0);
  const status = explicit >= reject ? "rejected" : doubtful >= review ? "queued" : "approved";
  return { status, by: "classifier", reason: status === "rejected" ? sexualContent : null, scores };
}
