import { sendToManualReview, moderateAvatar } from "./avatar-moderation.ts";
import { importFromFile } from "./codex-import.ts";
import { answerRequest } from "./credential-requests.ts";
import { actOnGroup, endGroupAction } from "./group-actions.ts";
import { storeLobbyResult } from "./lobby-results.ts";
import { maintain } from "./maintenance.ts";
import { sendMail } from "./mail.ts";
import { rebuildProjection } from "./projection-rebuild.ts";
import { generateQuestions } from "./question-generation.ts";
import { importSample } from "./sample-data.ts";

/** Processors by queue name. This service only fills, and never empties, a queue without an entry here. */
export const processors = {
  "avatar-moderation": moderateAvatar,
  "codex-import": importFromFile,
  "credential-requests": answerRequest,
  "group-actions": actOnGroup,
  "lobby-results": storeLobbyResult,
  mail: sendMail,
  maintenance: maintain,
  "projection-rebuild": rebuildProjection,
  "question-generation": generateQuestions,
  "sample-data": importSample,
};

/** The last step after a job has failed for good, by queue name; other jobs are only listed as failed. */
export const failureSteps = {
  "avatar-moderation": sendToManualReview,
  "group-actions": endGroupAction,
};
