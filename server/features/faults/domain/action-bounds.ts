/** References to jobs that all open actions hold together. */
export const maxSnapshotJobs = 20_000;
/** Jobs a second. */
export const maxRate = 1_000;
/** Some thousand jobs of one cause within a minute. */
export const usualRate = 200;
/** Rows kept in Postgres. */
export const maxActions = 10_000;
/** Actions shown with their group. */
export const maxListed = 20;
/** Jobs retried before all others. */
export const trialJobs = 10;
