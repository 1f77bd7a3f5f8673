import { Redis } from "ioredis";
import { Neighbours } from "../../support/neighbours.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { newMember, type Member } from "./fleet.ts";

/** Workers in several processes on stores of their own; one worker is in this process. */
export class ProcessFleet extends Neighbours {
  readonly stores: TestStores;
  member: Member;

  /** `options` of the worker in this process. */
  static async start(options: Parameters<typeof newMember>[1] = {}): Promise<ProcessFleet> {
    const stores = await testStores();
    return new ProcessFleet(stores, await newMember(stores.redisUrl, options));
  }

  private constructor(stores: TestStores, member: Member) {
    super(new Redis({ path: stores.redisUrl.replace("unix://", "") }), stores.redisUrl);
    this.stores = stores;
    this.member = member;
    this.redis.on("error", () => {});
  }

  async stop(): Promise<void> {
    await this.member.lobbies.stop();
    this.redis.disconnect();
    await this.stores.stop();
  }
}
