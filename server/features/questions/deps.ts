import type { WithEnqueue, WithEnqueueAndWait } from "../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithOrigin,
  WithRedis,
  WithResponseCache,
} from "../../platform/capabilities.ts";
import type { QuestionModel } from "./providers/question-model.ts";

export interface QuestionDeps
  extends
    WithEm,
    WithConfig,
    WithClock,
    WithLog,
    WithOrigin,
    WithFaults,
    WithOrigin,
    WithRedis,
    WithResponseCache,
    WithEnqueue,
    WithEnqueueAndWait {
  questionModel: QuestionModel;
  /** The built-in questions, which need neither network nor another process. */
  questionBank: QuestionModel;
}
