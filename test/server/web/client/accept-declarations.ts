import {
  acceptDigest,
  acceptedDigest,
  changesBetween,
  digestOf,
  publishedFiles,
} from "./declarations.ts";

/** `npm run client:accept`: prints what changed in the published declarations, and makes it the accepted state. */
const digest = digestOf(publishedFiles().get("client/emberline.d.ts") ?? "");
for (const change of changesBetween(acceptedDigest(), digest)) process.stdout.write(`${change}\n`);
acceptDigest(digest);
