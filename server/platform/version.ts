import packageJson from "../../package.json" with { type: "json" };

/** Version of the service, as answered in every response envelope (ENV-02). */
export const serviceVersion: string = packageJson.version;
