import type { Action } from "../roles.ts";

/** Each change that the queue board can request, as the action that the table of roles knows (OPS-07). */
export const boardChanges: Readonly<Record<string, Action>> = {
  "put /api/queues/pause": "queue:pause",
  "put /api/queues/resume": "queue:resume",
  "put /api/queues/:queueName/pause": "queue:pause",
  "put /api/queues/:queueName/resume": "queue:resume",
  "put /api/queues/:queueName/:jobId/retry": "job:retry",
  "put /api/queues/:queueName/:jobId/clean": "job:remove",
  "put /api/queues/:queueName/retry/:queueStatus": "queue:retry-failed",
  "post /api/queues/:queueName/add": "job:add",
  "put /api/queues/:queueName/promote": "job:edit",
  "put /api/queues/:queueName/:jobId/promote": "job:edit",
  "patch /api/queues/:queueName/:jobId/update-data": "job:edit",
  "patch /api/queues/:queueName/:jobId/delay": "job:edit",
  "patch /api/queues/:queueName/:jobId/priority": "job:edit",
  "put /api/queues/:queueName/:jobId/remove-unprocessed-children": "queue:clean",
  "put /api/queues/:queueName/clean/:queueStatus": "queue:clean",
  "put /api/queues/:queueName/empty": "queue:empty",
  "put /api/queues/:queueName/obliterate": "queue:obliterate",
  "put /api/queues/:queueName/concurrency": "queue:concurrency",
  "put /api/queues/:queueName/rate-limit": "queue:concurrency",
  "put /api/queues/:queueName/rate-limit/release": "queue:concurrency",
  "put /api/queues/:queueName/job-schedulers/:schedulerId/remove": "scheduler:change",
  "patch /api/queues/:queueName/job-schedulers/:schedulerId": "scheduler:change",
  "put /api/queues/:queueName/job-schedulers/:schedulerId/run": "scheduler:change",
};
