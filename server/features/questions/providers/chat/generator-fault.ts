import { BrokenCircuitError, BulkheadRejectedError, TaskCancelledError } from "cockatiel";
import { Fault, type FaultCode } from "../../../../platform/faults/fault.ts";
import { reasonOf } from "../../../../platform/faults/http-fault.ts";
import { BudgetExceeded } from "./budget.ts";
import { MalformedAnswer } from "./client.ts";

/** The failure of a call with its retries, after the policies, which tell errors apart by their classes. */
export function generatorFault(error: unknown, peer: string): Fault {
  const status =
    error instanceof Error && "status" in error && typeof error.status === "number"
      ? error.status
      : undefined;
  return new Fault(status === undefined ? codeOf(error) : "generator.status", {
    peer,
    text: status === undefined ? reasonOf(error) : wordsOf(error),
    cause: error,
    ...(status === undefined ? {} : { status }),
  });
}

function codeOf(error: unknown): FaultCode {
  if (error instanceof MalformedAnswer) return "generator.malformed";
  if (error instanceof BudgetExceeded) return "generator.budget";
  if (error instanceof BrokenCircuitError) return "generator.circuit_open";
  if (error instanceof BulkheadRejectedError) return "generator.overloaded";
  if (error instanceof TaskCancelledError) return "generator.timeout";
  return "generator.unreachable";
}

/** The library puts the status before the words of the server. */
const wordsOf = (error: unknown) =>
  error instanceof Error ? error.message.replace(/^\d{3} /, "") : String(error);
