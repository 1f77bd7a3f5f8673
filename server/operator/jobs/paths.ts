export const queuesPath = "/operator/queues";

export const queuePath = (queue: string): string => `${queuesPath}/${encodeURIComponent(queue)}`;

export const jobsPath = (queue: string, state: string): string =>
  `${queuePath(queue)}/jobs?state=${encodeURIComponent(state)}`;

export const jobPath = (queue: string, id: string): string =>
  `/operator/jobs/${encodeURIComponent(queue)}/${encodeURIComponent(id)}`;
