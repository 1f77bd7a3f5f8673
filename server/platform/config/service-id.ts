import cluster from "node:cluster";
import { randomString } from "../ids.ts";

const idLength = 12;
const idAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

export const createId = (): string => randomString(idLength, idAlphabet);

const variable = "EMBERLINE_INSTANCE";

/** Id of this start of the service: made by its first process, inherited by the others. */
export const serviceId: string = (cluster.isWorker && process.env[variable]) || createId();

/** Environment variable that passes `serviceId` to the other processes. */
export const serviceEnv: Readonly<Record<string, string>> = { [variable]: serviceId };
