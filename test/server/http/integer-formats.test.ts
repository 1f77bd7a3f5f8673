import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withIntegerFormats } from "../../../server/http/pipeline/integer-formats.ts";
import { operatorDocument } from "../../../server/operator/routes.ts";
import { publicDocument } from "../../../server/features/docs/openapi-route.ts";
import { routes } from "../../../server/app/routes.ts";

const limits = { int32: 2 ** 31, int64: 2 ** 63 } as const;

interface Found {
  where: string;
  schema: Record<string, unknown>;
}

/** Every integer schema of a document. */
function integersIn(part: unknown, where = ""): Found[] {
  if (typeof part !== "object" || part === null) return [];
  const inside = Object.entries(part).flatMap(([key, value]) =>
    integersIn(value, `${where}/${key}`),
  );
  const schema = part as Record<string, unknown>;
  const isInteger = [schema["type"]].flat().includes("integer");
  return isInteger ? [{ where, schema }, ...inside] : inside;
}

describe("integers in the OpenAPI document", () => {
  const documents = {
    public: publicDocument([...routes]),
    operators: operatorDocument(),
  };
  for (const [name, document] of Object.entries(documents))
    it(`have a format that their bounds fit, in the document of the ${name} listener`, () => {
      const found = integersIn(JSON.parse(JSON.stringify(document)));
      assert.ok(found.length > 50);
      const wrong = found.filter(({ schema: { format, minimum, maximum } }) => {
        if (format !== "int32" && format !== "int64") return true;
        const limit = limits[format];
        // Without bounds only the widest format certainly fits.
        if (minimum === undefined || maximum === undefined) return format === "int32";
        return Number(minimum) < -limit || Number(maximum) >= limit;
      });
      assert.deepEqual(wrong, []);
    });

  it("are int64 where a field holds a time in milliseconds", () => {
    const times = integersIn(JSON.parse(JSON.stringify(documents.public))).filter(
      ({ where, schema }) => where.endsWith("_ms") && schema["maximum"] === undefined,
    );
    assert.ok(times.length > 10);
    assert.deepEqual(
      times.filter(({ schema }) => schema["format"] !== "int64"),
      [],
    );
  });

  it("are distinguished from properties named type, and may be null", () => {
    const format = (schema: object) =>
      (withIntegerFormats(schema) as { format?: string }).format ?? null;
    assert.equal(format({ type: "integer", minimum: 1, maximum: 100 }), "int32");
    assert.equal(format({ type: "integer", exclusiveMinimum: 0, maximum: 2 ** 31 - 1 }), "int32");
    assert.equal(format({ type: "integer", minimum: 0, maximum: 2 ** 31 }), "int64");
    assert.equal(format({ type: "integer", minimum: 0 }), "int64");
    assert.equal(format({ type: ["integer", "null"] }), "int64");
    assert.equal(format({ type: "string" }), null);
    const named = { properties: { type: { type: "string" }, n: { type: "integer" } } };
    assert.deepEqual(withIntegerFormats(named), {
      properties: { type: { type: "string" }, n: { type: "integer", format: "int64" } },
    });
  });
});
